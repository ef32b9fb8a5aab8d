"""How long it takes to read tables into a Graph, beside pandas and pyarrow, which only parse the same files.

    python benchmarks/reading.py                     both cases, three times each after a warm-up; adds to the store
    python benchmarks/reading.py csv --repeats 1     one of them
    python benchmarks/reading.py --show              the latest of each case from benchmarks/results/reading.jsonl

The tables are random and written to a temporary folder: ids, four columns of numbers, a column of labels with one node in
twenty labelled; edges with weights. Seconds are medians, of wall-clock and of processor time; on a busy machine trust the
second. Peak memory is that of a process of its own that reads once.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from ncgc.io import read_graph
from ncgc.runs.environment import revision

STORE = Path(__file__).resolve().parent / "results" / "reading.jsonl"
NUMBERS, CLASSES, LABELLED = 4, 10, 0.05
COLUMNS = ("case", "edges", "nodes", "ncgc", "pandas", "pyarrow", "over pandas", "over pyarrow", "peak memory")


@dataclass(frozen=True)
class Case:
    """Tables of one kind; the ids are text in the first and whole numbers in the second."""

    name: str
    edges: int
    nodes: int

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the tables and return the paths of nodes and edges."""
        generator = np.random.default_rng(0)
        numbers = np.arange(self.nodes)
        ids = pa.array(numbers) if self.name == "parquet" else pa.array([f"n{number}" for number in numbers.tolist()])
        names = np.array([*(f"class {k}" for k in range(CLASSES)), None], dtype=object)
        classes = np.where(generator.random(self.nodes) < LABELLED, generator.integers(0, CLASSES, self.nodes), CLASSES)
        columns = {f"x{k}": generator.standard_normal(self.nodes).round(4) for k in range(NUMBERS)}
        ends = [ids.take(pa.array(generator.integers(0, self.nodes, self.edges))) for _ in range(2)]
        weights = generator.integers(1, 100, self.edges) / 10
        nodes = pa.table({"id": ids, **columns, "label": pa.array(names[classes], pa.string())})
        edges = pa.table({"source": ends[0], "target": ends[1], "weight": weights})
        return _write(nodes, folder / f"nodes.{self.name}"), _write(edges, folder / f"edges.{self.name}")


CASES = {case.name: case for case in (Case("csv", 2_000_000, 200_000), Case("parquet", 10_000_000, 1_000_000))}


def _write(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pa.csv.write_csv(table, path)
    return path


def ways(nodes: Path, edges: Path) -> dict[str, Callable[[], Any]]:
    """ncgc's reading, and the two libraries' parsing of the same files."""
    text = nodes.suffix == ".csv"
    with_pandas, with_pyarrow = (pd.read_csv, pa.csv.read_csv) if text else (pd.read_parquet, pq.read_table)
    return {
        "ncgc": lambda: read_graph(nodes, edges),
        "pandas": lambda: [with_pandas(nodes), with_pandas(edges)],
        "pyarrow": lambda: [with_pyarrow(nodes), with_pyarrow(edges)],
    }


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of wall-clock and of processor time."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def peak(nodes: Path, edges: Path) -> float:
    """Peak MiB of a process that imports ncgc, reads once and ends."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_read_once, (nodes, edges))


def _read_once(nodes: Path, edges: Path) -> float:
    read_graph(nodes, edges)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def one(case: Case, repeats: int) -> dict[str, Any]:
    """The record of a case; the ways take turns, so that other load on the machine falls on all of them."""
    with tempfile.TemporaryDirectory() as folder:
        nodes, edges = case.write(Path(folder))
        chosen = ways(nodes, edges)
        for work in chosen.values():
            work()
        times = [{name: timed(work) for name, work in chosen.items()} for _ in range(repeats)]
        most = peak(nodes, edges)
        size = (nodes.stat().st_size + edges.stat().st_size) / 2**20
    seconds = {name: statistics.median(turn[name][0] for turn in times) for name in chosen}
    processor = {name: statistics.median(turn[name][1] for turn in times) for name in chosen}
    return {
        "case": case.name,
        "edges": case.edges,
        "nodes": case.nodes,
        "files_mib": round(size, 1),
        "repeats": repeats,
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "processor_seconds": {name: round(value, 4) for name, value in processor.items()},
        "over_pandas": round(seconds["ncgc"] / seconds["pandas"], 3),
        "over_pyarrow": round(seconds["ncgc"] / seconds["pyarrow"], 3),
        "peak_mib": round(most, 1),
        "revision": revision(),
    }


def stored(path: Path) -> list[dict[str, Any]]:
    """The records so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    """The latest row of every case and size, in Markdown; seconds of the clock, in brackets those of the processor."""
    latest = {(row["case"], row["edges"], row["nodes"]): row for row in rows}
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    for row in latest.values():
        cells = [row["case"], f"{row['edges']:,}", f"{row['nodes']:,}"]
        cells += [f"{row['seconds'][name]:.2f} s ({row['processor_seconds'][name]:.2f})" for name in row["seconds"]]
        cells += [f"{row['over_pandas']:.1f}×", f"{row['over_pyarrow']:.1f}×", f"{row['peak_mib']:,.0f} MiB"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(words: list[str] | None = None) -> None:
    """Measure the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; default: both")
    parser.add_argument("--edges", type=int, help="how many; default: 2 million as csv, 10 million as parquet")
    parser.add_argument("--nodes", type=int, help="how many; default: 200,000 and 1,000,000")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--store", type=Path, default=STORE, metavar="FILE")
    parser.add_argument("--show", action="store_true", help="print the table from the store and measure nothing")
    given = parser.parse_args(words)
    unknown = [name for name in given.cases if name not in CASES]
    if unknown:
        parser.error(f"unknown case {unknown[0]!r}; there are {', '.join(CASES)}.")
    if given.repeats < 1:
        parser.error(f"--repeats must be at least 1. Got {given.repeats} instead.")
    for name in [] if given.show else given.cases or CASES:
        case = Case(name, given.edges or CASES[name].edges, given.nodes or CASES[name].nodes)
        record = one(case, given.repeats)
        with given.store.open("a") as file:
            file.write(json.dumps(record) + "\n")
    print(table(stored(given.store)))


if __name__ == "__main__":
    main()
