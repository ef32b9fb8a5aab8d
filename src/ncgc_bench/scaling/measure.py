"""How reading, training and memory grow from ten thousand nodes to a million, each measured in its own process.

The graphs are those of `ncgc generate`: a degree-corrected block model with 20 neighbours per node, 20 classes and 100
features of which a node has about 10 (:data:`MODEL`). The network is GCN, 2 layers × 128, by parts of about 20,000
nodes (:data:`BY_PARTS`). Every measurement ends as a line of JSON in a file and is not made again; the tables come from
that file.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ncgc.errors import NCGCError, ParameterError, TrainingError
from ncgc_bench.render import as_markdown
from ncgc_bench.scaling.tables import read_rows, tables

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
RANKS_AT = 100_000  # nodes of full batch and of two ranks
PART = 20_000  # nodes of a part, about
EPOCHS = 8  # of a timing
MODEL = {
    "num_classes": 20, "mean_degree": 20.0, "num_features": 100, "features_per_node": 10,
    "homophily": 0.5, "feature_signal": 0.25, "labels_per_class": 50, "validation": 50,
}  # fmt: skip
NETWORK = {"backbone": "gcn", "num_layers": 2, "hidden": 128, "dropout": 0.5, "random_state": 0}
BY_PARTS = NETWORK | {"batch": "partitions", "halo": 0}
TIMED = {"warmup": 1, "ramp": 1}  # all losses from the second epoch on
# candidates of full batch, chosen on validation: all losses, and the plain backbone
FULL: tuple[dict[str, Any], ...] = (
    {"warmup": 30, "ramp": 5},
    {"kl": False, "pl": False},
)
FULL_EPOCHS = 100
# by parts at the largest size: chosen on its validation nodes (docs/scaling.md)
ACCURATE_PART = 100_000
BEST = {"epochs": 60, "warmup": 20, "ramp": 5}
STEPS = 5  # an epoch, at most
FILE = Path("benchmarks") / "results" / "scale.jsonl"
THREADS = 2


def plan(sizes: Sequence[int], epochs: int, quick: bool = False, threads: int = THREADS) -> Iterator[dict[str, Any]]:
    """The measurements, in order. A ``train`` is timed or for accuracy.

    Args:
        sizes: numbers of nodes, at least one up to :data:`RANKS_AT`.
        epochs: of a timing.
        quick: whether to make everything small, to check that it works.
        threads: of a single process; two processes have half each.

    Yields:
        What the worker needs: kind, name, nodes, model, threads, settings.
    """
    model = MODEL | ({"num_classes": 4, "labels_per_class": 20, "validation": 20} if quick else {})
    middle = max(size for size in sizes if size <= RANKS_AT)
    for nodes in sizes:
        about = {"nodes": nodes, "model": model | {"num_nodes": nodes}}
        yield about | {"kind": "generate", "name": "generate"}
        yield about | {"kind": "read", "name": "read"}
        yield about | {
            "kind": "train", "name": "train", "threads": threads,
            "settings": BY_PARTS | TIMED | {"epochs": epochs, "parts": parts_of(nodes)},
        }  # fmt: skip
    about = {"nodes": middle, "model": model | {"num_nodes": middle}}
    for processes in (1, 2):
        yield about | {
            "kind": "ranks", "name": f"ranks {processes}", "processes": processes, "threads": max(threads // processes, 1),
            "settings": NETWORK | TIMED | {"epochs": epochs},
        }  # fmt: skip
    for number, choice in enumerate(FULL[:1] if quick else FULL):
        settings = NETWORK | {"epochs": epochs if quick else FULL_EPOCHS} | choice
        yield about | {"kind": "train", "name": f"full batch {number}", "threads": threads, "settings": settings}
    largest = max(sizes)
    parts = max(largest // ACCURATE_PART, 2)
    dealt = {"parts": parts, "steps_per_epoch": min(STEPS, parts)}
    settings = BY_PARTS | BEST | dealt | ({"epochs": epochs} if quick else {})
    yield {
        "kind": "train", "name": "by parts", "nodes": largest, "model": model | {"num_nodes": largest},
        "threads": threads, "settings": settings,
    }  # fmt: skip


def parts_of(nodes: int) -> int:
    """How many parts of about 20,000 nodes a graph is cut into.

    Args:
        nodes: number of nodes.

    Returns:
        The number of parts, one for a small graph.

    >>> [parts_of(nodes) for nodes in SIZES]
    [1, 2, 5, 15, 50]
    """
    return max(round(nodes / PART + 0.499), 1)


def run(tasks: Sequence[dict[str, Any]], file: Path, work: Path, again: bool = False) -> Iterator[dict[str, Any]]:
    """Take the measurements that the file lacks, and add each to it as it ends.

    Args:
        tasks: of :func:`plan`.
        file: with the measurements so far; it need not exist yet.
        work: folder for the graphs.
        again: whether to measure again what the file has.

    Yields:
        Every task with its result, measured now or before.

    Raises:
        TrainingError: a measurement failed.
    """
    done = [] if again or not file.exists() else read_rows(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        found = next((row for row in done if _key(row) == _key(task)), None)
        if found is None:
            folder = work / str(task["nodes"])
            if task["kind"] != "generate" and not folder.exists():
                measured({"kind": "generate", "model": task["model"]}, folder)  # made in an earlier run, and gone
            found = {**task, **measured(task, folder)}
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(found) + "\n")
        yield found


def _key(row: dict[str, Any]) -> str:
    """Equal for equal measurements."""
    fields = ("kind", "name", "nodes", "model", "threads", "processes", "settings")
    return json.dumps({name: row[name] for name in fields if name in row}, sort_keys=True)


def measured(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Take one measurement in a process, or several, of its own.

    Args:
        task: of :func:`plan`.
        folder: of its graph.

    Returns:
        The result of the first process, with the highest peak memory of all.

    Raises:
        TrainingError: a process failed.
    """
    processes, threads = task.get("processes", 1), task.get("threads", THREADS)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = os.environ | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    if processes > 1:
        shared |= {"WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    words = [sys.executable, "-m", "ncgc_bench.scaling.worker", json.dumps(task | {"folder": str(folder)})]
    workers = [
        subprocess.Popen(
            words, env=shared | {"RANK": str(rank)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for rank in range(processes)
    ]
    try:
        outputs = [worker.communicate() for worker in workers]
    finally:
        for worker in workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
    for worker, (_, trouble) in zip(workers, outputs, strict=True):
        if worker.returncode:
            why = (trouble.strip().splitlines() or [f"exit code {worker.returncode}"])[-1]
            raise TrainingError(f"The measurement {task.get('name', task['kind'])!r} failed: {why}")
    results = [json.loads(out.strip().splitlines()[-1]) for out, _ in outputs]
    found: dict[str, Any] = results[0] | {"peak_mib": max(result["peak_mib"] for result in results)}
    return found


def main(words: Sequence[str], about: str | None = __doc__) -> int:
    """Run ``python benchmarks/scale.py``.

    Args:
        words: the command line.
        about: the text above the options in ``--help``.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", help="numbers of nodes, with commas; default 1e4,3e4,1e5,3e5,1e6")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help=f"epochs of a timing; default {EPOCHS}")
    parser.add_argument("--threads", type=int, default=THREADS, help=f"threads of a single process; default {THREADS}")
    parser.add_argument(
        "--results", type=Path, default=FILE, metavar="FILE", help=f"where measurements are stored; default {FILE}"
    )
    parser.add_argument("--folder", type=Path, help="where the graphs are written; default a temporary folder")
    parser.add_argument("--quick", action="store_true", help="1e3 to 1e4 nodes, to check that everything works")
    parser.add_argument("--again", action="store_true", help="measure anew what the file has already")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per measurement instead of the tables"
    )
    parser.add_argument("--show", action="store_true", help="print the tables of the file; nothing is measured")
    given = parser.parse_args(words)
    try:
        if not given.show:
            sizes = sizes_of(given.sizes or ("1e3,3e3,1e4" if given.quick else None))
            if given.epochs <= 3:
                raise ParameterError(f"--epochs must be a whole number from 4. Got {given.epochs} instead.")
            if given.threads < 1:
                raise ParameterError(f"--threads must be a whole number from 1. Got {given.threads} instead.")
            work = given.folder or Path(tempfile.gettempdir()) / "ncgc-scale"
            work.mkdir(parents=True, exist_ok=True)
            for row in run(
                list(plan(sizes, given.epochs, given.quick, given.threads)), given.results, work, given.again
            ):
                print(json.dumps(row) if given.json else _line(row), flush=True)
        if not given.json:
            for table in tables(read_rows(given.results)):
                print(f"\n{as_markdown(table)}")
    except NCGCError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


def sizes_of(text: str | None) -> list[int]:
    """Parse numbers of nodes.

    Args:
        text: with commas; None for :data:`SIZES`.

    Returns:
        The sizes, ascending.

    Raises:
        ParameterError: one is no number, or the least is out of range.

    >>> sizes_of("1e4, 2000")
    [2000, 10000]
    """
    try:
        sizes = sorted({int(float(word)) for word in text.split(",")}) if text else list(SIZES)
    except ValueError:
        raise ParameterError(f"--sizes must be numbers with commas between. Got {text!r} instead.") from None
    if sizes[0] < 1000 or sizes[0] > RANKS_AT:
        raise ParameterError(f"--sizes must begin between 1,000 and {RANKS_AT:,} nodes. Got {text!r} instead.")
    return sizes


def _line(row: dict[str, Any]) -> str:
    seconds = row.get("epoch_seconds", row.get("seconds", 0.0))
    what = "an epoch" if "epoch_seconds" in row else "in all"
    accuracy = f", test {100 * row['test_accuracy']:.1f} %" if row.get("test_accuracy") is not None else ""
    return f"{row['nodes']:>9,} nodes  {row['name']:<14} {seconds:8.2f} s {what}, peak {row['peak_mib']:,.0f} MiB{accuracy}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
