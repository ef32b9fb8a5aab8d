"""The tables of `benchmarks/scale.py`: how time and memory grow with n, and the results beside their targets."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ncgc.errors import ParameterError
from ncgc_bench.render import Table

Row = dict[str, Any]
# targets: exponent of n, points of accuracy, seconds to read, GiB of memory
MAX_EXPONENT, MAX_LOSS, MAX_READ, MAX_GIB = 1.1, 1.0, 20.0, 8.0


def read_rows(path: Path) -> list[Row]:
    """Read measurements; of several under one name and size, the latest counts.

    Args:
        path: the file that `benchmarks/scale.py` wrote.

    Returns:
        One row per measurement.

    Raises:
        ParameterError: the file cannot be read, or holds something else.
    """
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        latest = {(row["name"], row["nodes"]): row for row in rows}
    except OSError as error:
        raise ParameterError(f"{path} cannot be read ({error.strerror}); run benchmarks/scale.py first.") from None
    except (ValueError, TypeError, KeyError):
        raise ParameterError(f"{path} is not what benchmarks/scale.py wrote; give another file.") from None
    return list(latest.values())


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The exponent e of value ~ n^e: the slope of log(value) over log(n) by least squares.

    Args:
        sizes: numbers n, at least two different ones.
        values: one each.

    Returns:
        The slope.

    >>> round(exponent([10, 100, 1000], [3, 30, 300]), 6)
    1.0
    """
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in values]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((one - mean_x) ** 2 for one in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread


def tables(rows: Sequence[Row]) -> list[Table]:
    """The growth table and the targets, as far as they have been measured.

    Args:
        rows: of :func:`read_rows`.

    Returns:
        Up to two tables.
    """
    return [table for table in (growth(rows), targets(rows)) if table is not None]


def _by_size(rows: Sequence[Row], name: str, figure: str) -> dict[int, float]:
    return {row["nodes"]: row[figure] for row in sorted(rows, key=lambda row: row["nodes"]) if row["name"] == name}


def growth(rows: Sequence[Row]) -> Table | None:
    """How time and memory grow: one row per size, the exponents of n last.

    Args:
        rows: of :func:`read_rows`.

    Returns:
        The table; None without a training.
    """
    columns = (
        ("generate s", "generate", "seconds", ".1f"),
        ("read s", "read", "seconds", ".2f"),
        ("read MiB", "read", "peak_mib", ",.0f"),
        ("epoch s", "train", "epoch_seconds", ".2f"),
        ("fit MiB", "train", "peak_mib", ",.0f"),
    )
    found = [_by_size(rows, name, figure) for _, name, figure, _ in columns]
    sizes = sorted(found[3])
    if not sizes:
        return None
    parts = {row["nodes"]: row["settings"]["parts"] for row in rows if row["name"] == "train"}
    edges = _by_size(rows, "read", "edges")
    body = [
        (
            f"{size:,}",
            f"{int(edges[size]):,}" if size in edges else "",
            str(parts[size]),
            *(format(values[size], form) if size in values else "" for values, (*_, form) in zip(found, columns, strict=True)),
        )
        for size in sizes
    ]  # fmt: skip
    if len(sizes) > 1:
        slopes = (f"{exponent(list(values), list(values.values())):.2f}" if len(values) > 1 else "" for values in found)
        body.append(("grows as n to the", "", "", *slopes))
    head = ("nodes", "edges", "parts", *(title for title, *_ in columns))
    return Table("How it grows", head, tuple(body))


def targets(rows: Sequence[Row]) -> Table | None:
    """Every target beside the result.

    Args:
        rows: of :func:`read_rows`.

    Returns:
        The table; None without any measurement.
    """
    body: list[tuple[str, str, str]] = []
    for name, figure, title in (
        ("train", "epoch_seconds", "time of an epoch by parts grows as n to the"),
        ("train", "peak_mib", "peak memory by parts grows as n to the"),
    ):
        values = _by_size(rows, name, figure)
        if len(values) > 1:
            body.append(
                (title, f"≤ {MAX_EXPONENT:g}", f"{exponent(list(values), list(values.values())):.2f}, {_span(values)}")
            )
    fits = [row for row in rows if row["name"] in ("train", "by parts")]
    if fits:
        most = max(fits, key=lambda row: row["peak_mib"])
        body.append(
            (f"peak memory, {most['nodes']:,} nodes", f"≤ {MAX_GIB:g} GiB", f"{most['peak_mib'] / 1024:.2f} GiB")
        )
    reads = [row for row in rows if row["name"] == "read"]
    if reads:
        last = max(reads, key=lambda row: row["nodes"])
        body.append((f"Parquet to Graph, {last['edges']:,} edges", f"< {MAX_READ:g} s", f"{last['seconds']:.1f} s"))
    body += _accuracy(rows) + _ranks(rows)
    return Table("Asked and found", ("", "asked", "found"), tuple(body)) if body else None


def _accuracy(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    full = [row for row in rows if row["name"].startswith("full batch")]
    parts = [row for row in rows if row["name"] == "by parts"]
    if not full or not parts:
        return []
    nodes = max(row["nodes"] for row in full)
    best = max((row for row in full if row["nodes"] == nodes), key=lambda row: row["val_accuracy"])
    found = max(parts, key=lambda row: row["nodes"])
    gap = 100 * (found["test_accuracy"] - best["test_accuracy"])
    return [
        (
            f"test accuracy by parts at {found['nodes']:,} nodes less full batch at {nodes:,}",
            f"≥ −{MAX_LOSS:g} point",
            f"{gap:+.1f} ({100 * found['test_accuracy']:.1f} % and {100 * best['test_accuracy']:.1f} %)",
        )
    ]


def _ranks(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    one, two = (_by_size(rows, f"ranks {processes}", "epoch_seconds") for processes in (1, 2))
    both = sorted(set(one) & set(two))
    if not both:
        return []
    nodes = both[-1]
    return [
        (
            f"epoch of two ranks over one process with two threads, {nodes:,} nodes",
            "≤ 1",
            f"{two[nodes] / one[nodes]:.2f} ({two[nodes]:.2f} s and {one[nodes]:.2f} s)",
        )
    ]


def _span(values: dict[int, float]) -> str:
    return f"{min(values):,} to {max(values):,} nodes"
