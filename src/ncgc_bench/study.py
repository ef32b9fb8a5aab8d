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

    [variants."SGC, raw features"]
    method = "sgc"               # another method, with its settings of the data set and these changes; [base] is NCGC's alone
    features = "raw"

Studies choose by validation accuracy, and their seeds begin at 1000: no table uses those splits.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ncgc.errors import ParameterError
from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.params.parameter import check_parameters, unknown_name
from ncgc.params.presets import method_preset
from ncgc.runs.spec import RunSpec
from ncgc.selection.tuning.space import FIRST_SEED
from ncgc_bench.plans import Entry

KEYS = ("datasets", "labels_per_class", "seeds", "blind")


@dataclass(frozen=True)
class Cell:
    """The runs of one variant on one data set with one number of labels."""

    variant: str
    dataset: str
    labels_per_class: int
    runs: tuple[RunSpec, ...]


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
    for name in study:
        if name not in KEYS:
            raise ParameterError(f"{unknown_name(name, KEYS, 'key')[:-1]} in [study] of {path}.")
    datasets = _listed(study, "datasets", str, path)
    seeds = _listed(study, "seeds", int, path, range(FIRST_SEED, FIRST_SEED + 4))
    if min(seeds) < FIRST_SEED:
        raise ParameterError(
            f"The study {path} has the seed {min(seeds)}; the splits below {FIRST_SEED} are for tables, choose on others."
        )
    cells = []
    for dataset in datasets:
        for labels in _listed(study, "labels_per_class", int, path, [20]):
            for name, changes in variants.items():
                if not isinstance(changes, dict):
                    raise ParameterError(
                        f"The variant {name!r} of the study {path} is no table; write [variants.{name}]."
                    )
                owner = f"{path}, variant {name!r},"
                method, parameters = _described(dataset, base, changes, owner)
                blind = bool(study.get("blind", False))
                runs = (
                    RunSpec.on_dataset(dataset, "random", labels, seed, method, blind, parameters) for seed in seeds
                )
                cells.append(Cell(name, dataset, labels, tuple(runs)))
    return cells


def _described(dataset: str, base: dict[str, Any], changes: dict[str, Any], owner: str) -> tuple[str, dict[str, Any]]:
    """The method of a variant and its parameters on a data set."""
    # TOML has no none
    given = {key: None if value == "none" else value for key, value in changes.items() if key != "method"}
    method = str(changes.get("method", "ncgc"))
    if method == "ncgc":
        parameters = {key: None if value == "none" else value for key, value in base.items()} | given
        check_parameters(parameters, owner, NCGC_PARAMETERS)
        return method, parameters
    from ncgc.models.registry import find_classifier  # torch comes with it

    check_parameters(given, owner, find_classifier(method).PARAMETERS)
    return method, method_preset(method, dataset) | given


def _listed(study: dict[str, Any], name: str, kind: type, path: Path, default: Sequence[Any] = ()) -> Sequence[Any]:
    """A list in [study], checked to hold words or whole numbers from 1."""
    found = study.get(name, default)
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise ParameterError(f"The '{name}' of the study {path} must be a list. Got {found!r} instead.")
    if not found:
        raise ParameterError(f"The study {path} has no {name}; give some, or leave the key out.")
    for value in found:
        if not isinstance(value, kind) or isinstance(value, bool) or (isinstance(value, int) and value < 1):
            words = "names" if kind is str else "whole numbers from 1"
            raise ParameterError(f"The '{name}' of the study {path} must be {words}. Got {value!r} instead.")
    return found


def study_plan(path: str | Path) -> list[Entry]:
    """The runs of a study with their places: a row a variant, a column a data set and number of labels."""
    return [
        Entry(run, cell.dataset, run.dataset.split, cell.variant, None, Path(path).stem, cell.labels_per_class)
        for cell in read_study(path)
        for run in cell.runs
    ]
