"""A study: variants of the settings side by side on the same splits, described in a TOML file.

    [study]
    datasets = ["cora", "photo"]
    labels_per_class = [1, 20]
    seeds = [1000, 1001, 1002]
    blind = true                 # validation nodes only measure; training does not see them

    [base]                       # parameters of NCGC, for every variant that names no method
    backbone = "appnp"

    [variants."exact balance"]
    relaxation = 1.0

    [variants."SGC, raw features"]
    method = "sgc"               # with its own settings on the data set and these changes
    features = "raw"

Studies choose by validation accuracy, on splits that no table uses: their seeds begin at 1000.
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
from ncgc.runs.spec import DEFAULT_METHOD, RunSpec
from ncgc.selection.tuning.space import FIRST_SEED
from ncgc_bench.plans import Entry

KEYS = ("datasets", "labels_per_class", "seeds", "blind")


@dataclass(frozen=True)
class VariantRuns:
    """The runs of one variant on one data set with one number of labels."""

    variant: str
    dataset: str
    labels_per_class: int
    runs: tuple[RunSpec, ...]


def read_study(path: str | Path) -> list[VariantRuns]:
    """Read a study.

    Args:
        path: the TOML file.

    Returns:
        The runs of every data set, number of labels and variant, in this order.

    Raises:
        ParameterError: the file cannot be read, or something in it is unknown or out of range.
    """
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
            f"The study {path} has the seed {min(seeds)}; seeds below {FIRST_SEED} are for tables, use higher ones."
        )
    found = []
    for dataset in datasets:
        for labels in _listed(study, "labels_per_class", int, path, [20]):
            for name, changes in variants.items():
                if not isinstance(changes, dict):
                    raise ParameterError(
                        f"The variant {name!r} of the study {path} is no table; write [variants.{name}]."
                    )
                owner = f"{path}, variant {name!r},"
                method, parameters = _method_and_parameters(dataset, base, changes, owner)
                blind = bool(study.get("blind", False))
                runs = (
                    RunSpec.on_dataset(dataset, "random", labels, seed, method, blind, parameters) for seed in seeds
                )
                found.append(VariantRuns(name, dataset, labels, tuple(runs)))
    return found


def _method_and_parameters(
    dataset: str, base: dict[str, Any], changes: dict[str, Any], owner: str
) -> tuple[str, dict[str, Any]]:
    given = {key: value for key, value in _with_none(changes).items() if key != "method"}
    if "method" not in changes:
        parameters = _with_none(base) | given
        check_parameters(parameters, owner, NCGC_PARAMETERS)
        return DEFAULT_METHOD, parameters
    from ncgc.models.registry import find_classifier  # imports torch

    method = str(changes["method"])
    check_parameters(given, owner, find_classifier(method).PARAMETERS)
    return method, method_preset(method, dataset) | given


def _with_none(values: dict[str, Any]) -> dict[str, Any]:
    """TOML has no None; a study writes "none"."""
    return {key: None if value == "none" else value for key, value in values.items()}


def _listed(study: dict[str, Any], name: str, kind: type, path: Path, default: Sequence[Any] = ()) -> Sequence[Any]:
    """A list of [study], checked to hold names or whole numbers from 1."""
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
    """The plan of a study: one row per variant, one column per data set and number of labels.

    Args:
        path: the TOML file.

    Returns:
        The entries, in the order of :func:`read_study`.
    """
    name = Path(path).stem
    return [
        Entry(run, found.dataset, run.dataset.split, found.variant, None, name, found.labels_per_class)
        for found in read_study(path)
        for run in found.runs
    ]
