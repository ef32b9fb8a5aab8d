"""Test accuracy of NCGC and of its plain backbone over several splits: one JSON line a run, none repeated.

    python benchmarks/accuracy.py                       run what is missing, then print the table
    python benchmarks/accuracy.py cora photo --runs 5   some data sets, more runs
    python benchmarks/accuracy.py --show                the table of what is there

Variants: GCN and NCGC at their defaults on the `random` split; with random instead of k-means centroids; with one label a
class and no validation nodes (`few`); and the paper's settings on the paper's split. Results go to benchmarks/results/accuracy.jsonl; stop with Ctrl-C and start again at any time. A line is taken as done when
data set, variant, seed and every setting are the same.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ncgc import NCGC, __version__, load_dataset, make_split
from ncgc.bench import preset
from ncgc.errors import NCGCError
from ncgc.methods import LabelSpreading

RESULTS = Path(__file__).parent / "results" / "accuracy.jsonl"
DATASETS = ("digits", "cora", "citeseer", "pubmed", "computers", "photo", "cs", "physics")
PLAIN = {"soft_orthogonality": False, "kl": False, "pl": False}
# variant → split, settings (a name of settings/, or None for the defaults), and what differs from them
VARIANTS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "GCN": ("random", None, PLAIN),
    "NCGC": ("random", None, {}),
    "NCGC, random centroids": ("random", None, {"centroids": "random"}),
    "label spreading, 1 label a class": ("few", None, {}),
    "GCN, 1 label a class": ("few", None, PLAIN),
    "NCGC, 1 label a class": ("few", None, {}),
    "paper's GCN": ("paper", "paper", PLAIN),
    "paper's NCGC": ("paper", "paper", {}),
}


def settings_of(variant: str, dataset: str) -> dict[str, Any]:
    _, name, changes = VARIANTS[variant]
    return ({} if name is None else preset(name, "gcn", dataset)) | changes


def done() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["dataset"], row["variant"], row["seed"], json.dumps(row["settings"], sort_keys=True)


def run(dataset: str, variant: str, seed: int, root: str | None) -> dict[str, Any]:
    """One training: the split and the model both from this seed."""
    graph = load_dataset(dataset, root=root)
    split = make_split(graph, VARIANTS[variant][0], seed=seed)
    if variant.startswith("label spreading"):
        score = LabelSpreading().fit(graph, split).score()
        row = {"dataset": dataset, "variant": variant, "split": split.name, "seed": seed, "test_accuracy": score}
        return row | {"seconds": 0.0, "version": __version__, "settings": {}}
    model = NCGC(**settings_of(variant, dataset), random_state=seed).fit(graph, split)
    if model.termination_ == "interrupted":
        raise KeyboardInterrupt  # the estimator keeps its best so far; a table must not
    settings = {name: value for name, value in model.get_params().items() if name != "random_state"}
    return {
        "dataset": dataset,
        "variant": variant,
        "split": split.name,
        "seed": seed,
        "test_accuracy": model.score(),
        "val_accuracy": model.history_.at(model.best_epoch_).get("val_accuracy"),
        "best_epoch": model.best_epoch_,
        "epochs": len(model.history_),
        "seconds": round(model.seconds_, 2),
        "version": __version__,
        "settings": settings,
    }


def show(rows: list[dict[str, Any]]) -> None:
    """Mean ± standard deviation of test accuracy, and paired differences to the plain backbone on the same splits."""
    names = [name for name in DATASETS if any(row["dataset"] == name for row in rows)]
    variants = [name for name in VARIANTS if any(row["variant"] == name for row in rows)]
    print("| | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for variant in variants:
        cells = []
        for name in names:
            values = [100 * row["test_accuracy"] for row in rows if (row["dataset"], row["variant"]) == (name, variant)]
            spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
            cells.append(f"{np.mean(values):.1f}{spread} ({len(values)})" if values else "")
        print(f"| {variant} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=DATASETS, metavar="DATASET")
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", help="folder of the data sets (else NCGC_DATA, else the user's cache)")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        RESULTS.parent.mkdir(exist_ok=True)
        for dataset in arguments.datasets:
            for variant in arguments.variants:
                model = NCGC(**settings_of(variant, dataset))
                settings = {name: value for name, value in model.get_params().items() if name != "random_state"}
                settings = {} if variant.startswith("label spreading") else settings
                for seed in range(arguments.seed, arguments.seed + arguments.runs):
                    wanted = {"dataset": dataset, "variant": variant, "seed": seed, "settings": settings}
                    if key(wanted) in {key(row) for row in done()}:
                        continue
                    row = run(dataset, variant, seed, arguments.data)
                    with RESULTS.open("a") as file:
                        file.write(json.dumps(row) + "\n")
                    print(
                        f"{dataset} {variant} seed {seed}: {100 * row['test_accuracy']:.1f} in {row['seconds']} s",
                        file=sys.stderr,
                    )
    show(done())


if __name__ == "__main__":
    try:
        main()
    except NCGCError as error:
        sys.exit(f"Error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
