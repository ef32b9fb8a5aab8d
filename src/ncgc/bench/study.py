"""A study: variants of the settings side by side on the same splits, described in a TOML file.

    [study]
    datasets = ["cora", "photo"]
    labels_per_class = [1, 20]
    seeds = [1000, 1001, 1002]
    blind = true                 # validation nodes only measure; training does not see them

    [base]                       # parameters of every variant
    backbone = "appnp"

    [variants."exact balance"]
    relaxation = 1.0

Studies choose by validation accuracy, and their seeds begin at 1000: no table uses those splits.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ncgc.bench.plans import Entry
from ncgc.bench.run import Run
from ncgc.bench.store import Store
from ncgc.errors import ParameterError
from ncgc.parameters import check_parameters

FIRST_SEED = 1000  # of splits to choose on; tables begin at 0


@dataclass(frozen=True)
class Cell:
    """The runs of one variant on one data set with one number of labels."""

    variant: str
    dataset: str
    labels_per_class: int
    runs: tuple[Run, ...]


def read_study(path: str | Path) -> list[Cell]:
    """The cells of a study, in the order of its file."""
    path = Path(path)
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ParameterError(f"The study {path} cannot be read: {error}.") from None
    study, base, variants = tables.get("study", {}), tables.get("base", {}), tables.get("variants", {})
    if not study.get("datasets") or not variants:
        raise ParameterError(f"The study {path} needs datasets under [study] and at least one [variants.NAME].")
    seeds: Sequence[int] = study.get("seeds", range(FIRST_SEED, FIRST_SEED + 4))
    if min(seeds) < FIRST_SEED:
        raise ParameterError(
            f"The study {path} has the seed {min(seeds)}; the splits below {FIRST_SEED} are for tables, choose on others."
        )
    cells = []
    for dataset in study["datasets"]:
        for labels in study.get("labels_per_class", [20]):
            for name, changes in variants.items():
                parameters: dict[str, Any] = {**base, **changes}
                check_parameters(parameters, f"{path}, variant {name!r},")
                cells.append(Cell(name, dataset, labels, tuple(
                    Run(dataset, "random", labels, seed, blind=study.get("blind", False), parameters=parameters)
                    for seed in seeds
                )))  # fmt: skip
    return cells


def study_plan(path: str | Path) -> list[Entry]:
    """The runs of a study with their places: a row a variant, a column a data set and number of labels."""
    return [
        Entry(run, cell.dataset, run.split, cell.variant, None, Path(path).stem, cell.labels_per_class)
        for cell in read_study(path)
        for run in cell.runs
    ]


def study_table(cells: Sequence[Cell], store: Store, quantity: str = "val_accuracy") -> list[list[str]]:
    """Rows of text: variant by data set and labels, mean ± standard deviation of what is there, and the mean over all."""
    columns = list(dict.fromkeys((cell.dataset, cell.labels_per_class) for cell in cells))
    rows = [["", *(f"{dataset} {labels}" for dataset, labels in columns), "mean", "s"]]
    for variant in dict.fromkeys(cell.variant for cell in cells):
        row, means, seconds = [variant], [], 0.0
        for column in columns:
            runs = next(c.runs for c in cells if (c.variant, c.dataset, c.labels_per_class) == (variant, *column))
            found = [record for run in runs if (record := store.find(run)) is not None]
            values = [100 * record[quantity] for record in found]
            seconds += float(np.mean([record["seconds"] for record in found])) if found else 0.0
            means.append(float(np.mean(values)) if values else float("nan"))
            spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
            row.append(f"{means[-1]:.1f}{spread} ({len(values)})" if values else "")
        rows.append([*row, f"{np.mean(means):.2f}", f"{seconds:.0f}"])
    return rows
