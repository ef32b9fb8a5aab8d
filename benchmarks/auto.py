"""Which method `ncgc fit --method auto` takes, and the accuracy of its other candidates.

    python benchmarks/auto.py cora citeseer photo --labels 5 20 --splits 3     make what is missing of results/auto.jsonl
    python benchmarks/auto.py --show                                           the table

Runs the command as a user does: two tables in, a few labels per class, no validation labels; auto, which sees the training
labels alone, and every candidate by name. Test accuracy in per cent, mean over the splits.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ncgc import Graph, Split, load_dataset
from ncgc.datasets import few_split
from ncgc.runs.environment import revision
from ncgc.selection.auto import CANDIDATES

STORE = Path(__file__).resolve().parent / "results" / "auto.jsonl"
BUDGET = "3600"  # seconds: all candidates are tried


def write_tables(graph: Graph, split: Split, folder: Path) -> list[str]:
    """Write the graph as tables in a folder.

    Args:
        graph: the graph.
        split: its training and test nodes; the label column holds the labels of these alone.
        folder: where the files go.

    Returns:
        The options of `ncgc fit` that read them.
    """
    part = np.full(graph.num_nodes, "", dtype=object)
    part[split.train], part[split.test] = "train", "test"
    labels = np.where(part == "", "", graph.classes[graph.labels].astype(str))
    pd.DataFrame({"id": np.arange(graph.num_nodes), "label": labels, "split": part}).to_csv(
        folder / "nodes.csv", index=False
    )
    upper = sparse.triu(graph.adjacency).tocoo()
    pd.DataFrame({"source": upper.row, "target": upper.col}).to_csv(folder / "edges.csv", index=False)
    sparse.save_npz(folder / "x.npz", sparse.csr_array(graph.features))
    words = {"--nodes": "nodes.csv", "--edges": "edges.csv", "--features": "x.npz"}
    return [word for flag, name in words.items() for word in (flag, str(folder / name))] + ["--split", "split"]


def fit(tables: list[str], folder: Path, method: str, seed: int) -> dict[str, Any]:
    """Run `ncgc fit --json` and return its last line: a method by name, or "auto"."""
    own = [f"--set={name}={value}" for name, value in CANDIDATES.get(method, {}).items()]
    words = [*tables, "--method", method, *own, "--seed", str(seed), "--budget", BUDGET, "--folds", "0"]
    command = [sys.executable, "-m", "ncgc", "fit", *words, "--no-report", "--json", "--out", str(folder / method)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(name: str, labels: int, seed: int) -> dict[str, Any]:
    """The record of one split: what auto took, and every candidate alone."""
    graph = load_dataset(name, root=os.environ.get("NCGC_DATA"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tables = write_tables(graph, few_split(graph, labels, seed=seed), folder)
        auto = fit(tables, folder, "auto", seed)
        alone = {method: fit(tables, folder, method, seed)["test_accuracy"] for method in CANDIDATES}
    return {
        "dataset": name,
        "labels_per_class": labels,
        "seed": seed,
        "taken": auto["choice"]["method"],
        "test_accuracy": auto["test_accuracy"],
        "tried": {trial["method"]: trial["accuracy"] for trial in auto["choice"]["tried"]},
        "seconds": round(sum(trial["seconds"] for trial in auto["choice"]["tried"]), 1),
        "alone": alone,
        "revision": revision(),
    }


def stored() -> list[dict[str, Any]]:
    """The records so far."""
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()] if STORE.exists() else []


def make_missing(datasets: list[str], labels: list[int], splits: int) -> None:
    """Make the records that the store lacks, and add each as it ends."""
    done = {(r["dataset"], r["labels_per_class"], r["seed"]) for r in stored()}
    for name in datasets:
        for count in labels:
            for seed in range(splits):
                if (name, count, seed) not in done:
                    record = one(name, count, seed)
                    with STORE.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(record) + "\n")
                    print(record, file=sys.stderr)


def show() -> None:
    """Print the table of all records in Markdown."""
    records = stored()
    print(f"| graph, labels a class | auto | took | {' | '.join(CANDIDATES)} | seconds to choose |")
    print(f"|---|---:|---|{'---:|' * (len(CANDIDATES) + 1)}")
    for name, labels in dict.fromkeys((r["dataset"], r["labels_per_class"]) for r in records):
        own = [r for r in records if (r["dataset"], r["labels_per_class"]) == (name, labels)]
        taken = [r["taken"] for r in own]
        took = ", ".join(f"{method} {taken.count(method)}" for method in CANDIDATES if method in taken)
        alone = [f"{100 * np.mean([r['alone'][method] for r in own]):.1f}" for method in CANDIDATES]
        mean, seconds = 100 * np.mean([r["test_accuracy"] for r in own]), np.mean([r["seconds"] for r in own])
        print(f"| {name} {labels} | {mean:.1f} | {took} | {' | '.join(alone)} | {seconds:.0f} |")


def main() -> None:
    """Make what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=[])
    parser.add_argument("--labels", nargs="+", type=int, default=[5, 20])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--show", action="store_true")
    chosen = parser.parse_args()
    if not chosen.show:
        make_missing(chosen.datasets, chosen.labels, chosen.splits)
    show()


if __name__ == "__main__":
    main()
