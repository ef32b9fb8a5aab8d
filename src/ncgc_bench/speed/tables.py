"""The tables of timings: NCGC's epoch on every data set, and an epoch of each other method."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ncgc.errors import ParameterError
from ncgc_bench.render import Table, as_markdown

# field of a row, title of its column, format
COLUMNS = (
    ("ours_ms", "ours ms", ".1f"),
    ("edge_index_ms", "edge_index ms", ".1f"),
    ("csr_ms", "csr ms", ".1f"),
    ("floor_ms", "floor ms", ".1f"),
    ("over_edge_index", "× edge_index", ".2f"),
    ("over_csr", "× csr", ".2f"),
    ("over_floor", "ours / floor", ".2f"),
    ("ours_mib", "ours MiB", ".0f"),
    ("edge_index_mib", "edge_index MiB", ".0f"),
    ("memory_share", "memory share", ".2f"),
    ("kept_gain", "kept memory", ".2f"),
)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the timings that an earlier ``--json`` printed.

    Args:
        path: a file with one JSON object per line; the last line, with the means, is skipped.

    Returns:
        One row per data set, or per method and data set.

    Raises:
        ParameterError: the file cannot be read, or has no timings.
    """
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        rows = [row for row in found if "ours_ms" in row]
    except OSError as error:
        raise ParameterError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, TypeError):
        raise ParameterError(f"{path} is not what --json printed; give a file with one JSON object per line.") from None
    if not rows:
        raise ParameterError(f"{path} has no timings; give a file that --json was written to.")
    return rows


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean, exp of the mean logarithm: the right mean for ratios.

    Args:
        values: positive numbers, at least one.

    Returns:
        Their geometric mean.

    >>> round(geometric_mean([2.0, 8.0]), 6)
    4.0
    """
    return math.exp(sum(map(math.log, values)) / len(values))


def means(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The geometric means of the ratios over all rows.

    Args:
        rows: of `epochs.measure` or `methods.measure_method`.

    Returns:
        Means by field.
    """
    ratios = [key for key in rows[0] if key.startswith("over_") or key in ("memory_share", "kept_gain")]
    return {key: geometric_mean([row[key] for row in rows]) for key in ratios}


def as_table(rows: Sequence[dict[str, Any]]) -> str:
    """The timings in Markdown.

    Args:
        rows: what `epochs.measure` or `methods.measure_method` returned, all of one kind.

    Returns:
        One row per data set with the geometric means of the ratios last; or, for methods, one row per method.
    """
    if "method" in rows[0]:
        return as_markdown(method_table(rows))
    columns = [column for column in COLUMNS if column[0] in rows[0]]
    lines = ["| data set | " + " | ".join(title for _, title, _ in columns) + " |", "|---|" + "---:|" * len(columns)]
    for row in rows:
        lines.append(f"| {row['dataset']} | " + " | ".join(format(row[key], form) for key, _, form in columns) + " |")
    mean = means(rows)
    cells = (f"**{mean[key]:.2f}**" if key in mean else "" for key, _, _ in columns)
    return "\n".join([*lines, "| geometric mean | " + " | ".join(cells) + " |"])


def method_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Milliseconds of our epoch and of the PyG reference's, and how many times faster ours is.

    Args:
        rows: of `methods.measure_method`.

    Returns:
        One row per method, one column per data set.
    """
    from ncgc.models.registry import find_classifier  # imports torch

    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    found = {(row["method"], row["dataset"]): row for row in rows}
    lines = []
    for name in dict.fromkeys(row["method"] for row in rows):
        cells = [found.get((name, dataset)) for dataset in datasets]
        words = [f"{c['ours_ms']:.1f} / {c['stock_ms']:.1f} ({c['over_stock']:.1f}×)" if c else "" for c in cells]
        lines.append((find_classifier(name).title, *words))
    return Table("Milliseconds of an epoch, ours / stock PyG (times faster)", ("method", *datasets), tuple(lines))
