"""How well confidences are calibrated: the error before and after cross-fitting, and the result of --abstain 0.9.

    python benchmarks/calibration.py cora citeseer photo          make what is missing, ten splits each
    python benchmarks/calibration.py --show                       the table from benchmarks/results/calibration.jsonl

20 labels per class, no validation labels, default settings. Test labels serve for measuring alone.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ncgc import NCGC, load_dataset
from ncgc.datasets import few_split
from ncgc.evaluation.metrics import accuracy, expected_calibration_error
from ncgc.runs.environment import revision

STORE = Path(__file__).resolve().parent / "results" / "calibration.jsonl"
WANTED, LABELS = 0.9, 20
COLUMNS = {
    "accuracy": "test_accuracy",
    "error before": "ece_before",
    "error after": "ece_after",
    "temperature": "temperature",
    "share labelled at 0.9": "kept",
    "accuracy of those": "kept_accuracy",
}


def one(name: str, backbone: str, seed: int) -> dict[str, Any]:
    """The record of one training, measured before and after calibration."""
    graph = load_dataset(name, root=os.environ.get("NCGC_DATA"))
    split = few_split(graph, LABELS, seed=seed)
    layers: dict[str, Any] = {"num_layers": 1} if backbone == "appnp" else {}
    model = NCGC(backbone=backbone, **layers, random_state=seed).fit(graph, split)
    test, truth = split.test, graph.labels[split.test]
    before = model.predict_proba()[test]
    after = model.calibrate().predict_proba()[test]
    assert model.calibration_ is not None
    kept = after.max(axis=1) >= model.calibration_.threshold(WANTED)
    return {
        "dataset": name,
        "backbone": backbone,
        "seed": seed,
        "labels_per_class": LABELS,
        "test_accuracy": accuracy(after.argmax(axis=1), truth),
        "ece_before": expected_calibration_error(before, truth),
        "ece_after": expected_calibration_error(after, truth),
        "temperature": model.calibration_.temperature,
        "kept": float(kept.mean()),
        "kept_accuracy": accuracy(after.argmax(axis=1)[kept], truth[kept]) if kept.any() else None,
        "revision": revision(),
    }


def stored() -> list[dict[str, Any]]:
    """The records so far."""
    return [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []


def show() -> None:
    """Print the table of all records in Markdown."""
    rows = stored()
    print("| data set | backbone | splits | " + " | ".join(COLUMNS) + " |")
    print("|---|---|---:|" + "---:|" * len(COLUMNS))
    for name, backbone in dict.fromkeys((row["dataset"], row["backbone"]) for row in rows):
        runs = [row for row in rows if (row["dataset"], row["backbone"]) == (name, backbone)]
        cells = []
        for column in COLUMNS.values():
            values = [row[column] for row in runs if row[column] is not None]
            cells.append(
                f"{np.mean(values):.3f} ± {np.std(values, ddof=min(1, len(values) - 1)):.3f}" if values else ""
            )
        print(f"| {name} | {backbone} | {len(runs)} | " + " | ".join(cells) + " |")


def main() -> None:
    """Make what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*")
    parser.add_argument("--backbones", default="gcn,appnp")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    done = {(row["dataset"], row["backbone"], row["seed"]) for row in stored()}
    for name in given.datasets:
        for backbone in given.backbones.split(","):
            for seed in range(given.splits):
                if (name, backbone, seed) not in done:
                    record = one(name, backbone, seed)
                    with STORE.open("a") as file:
                        file.write(json.dumps(record) + "\n")
                    print(
                        f"{name} {backbone} {seed}: {record['ece_before']:.3f} → {record['ece_after']:.3f}", flush=True
                    )
    if given.show or given.datasets:
        show()


if __name__ == "__main__":
    main()
