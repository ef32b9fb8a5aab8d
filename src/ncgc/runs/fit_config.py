"""What `ncgc fit` is told, in TOML: the tables, their columns, and every hyper-parameter; enough to repeat the run.

nodes = "nodes.csv"
edges = "edges.csv"
label = "topic"               # columns that are not named are guessed

[parameters]
backbone = "appnp"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import tomli_w

from ncgc import __version__
from ncgc.errors import NCGCError, ParameterError
from ncgc.evaluation.calibration import FOLDS
from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.params.parameter import check_parameters, unknown_name
from ncgc.runs.config import HYPER, OURS, from_word, hyper_of

FORMATS = ("csv", "parquet")
KINDS = ("number", "category", "text", "drop")
AUTO = "auto"


@dataclass(frozen=True)
class FitConfig:
    """A run of `ncgc fit`.

    Attributes:
        nodes, edges: paths. id, label, source, target, weight: column names, None: guessed.
        split: a column that says train, val or test; None: every label trains.
        features: columns with commas, each perhaps with its kind ("age,bio:text"), a .npz or .npy file, or "none";
            None: every column that is nothing else.
        delimiter: of text tables. folds: of cross-fitting; 0 leaves confidence uncalibrated.
        abstain: the accuracy that predicted labels should have; None: every node gets a label.
        format: of the predictions. seed: of everything random.
        method: "ncgc", the name of a method of ``ncgc.models.registry``, or "auto" to choose among a few by cross-validation.
        budget: seconds that "auto" may take to choose. parameters: those of the method that were given.

    >>> FitConfig("n.csv", "e.csv", features="age,bio:text").columns
    (['age', 'bio'], {'bio': 'text'})
    """

    nodes: str
    edges: str | None = None
    id: str | None = None
    label: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    split: str | None = None
    features: str | None = None
    delimiter: str | None = None
    folds: int = FOLDS
    abstain: float | None = None
    format: str = "csv"
    seed: int = 0
    method: str = OURS
    budget: float = 300.0
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.folds, bool) or not isinstance(self.folds, int) or self.folds < 0 or self.folds == 1:
            raise ParameterError(f"The 'folds' must be 0 (no calibration) or 2 and more. Got {self.folds!r} instead.")
        if self.abstain is not None and not (isinstance(self.abstain, float) and 0 < self.abstain < 1):
            raise ParameterError(
                f"The accuracy to 'abstain' by must be between 0 and 1, such as 0.9. Got {self.abstain!r} instead."
            )
        if self.abstain is not None and not self.folds:
            raise ParameterError("To abstain by accuracy needs a calibration; leave --folds at its default.")
        if self.format not in FORMATS:
            raise ParameterError(f"The 'format' must be csv or parquet. Got {self.format!r} instead.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            raise ParameterError(f"The 'seed' must be a whole number from 0 to 4294967295. Got {self.seed!r} instead.")
        if isinstance(self.budget, bool) or not isinstance(self.budget, int | float) or not 0 < self.budget < 1e9:
            raise ParameterError(f"The 'budget' must be a number of seconds above 0. Got {self.budget!r} instead.")
        _check_parameters(self.parameters, self.method)

    @property
    def columns(self) -> tuple[list[str] | None, dict[str, str]]:
        """The feature columns that are named, or None, and the kinds given to them."""
        if self.features is None or self.from_file or self.features == "none":
            return None, {}
        names, kinds = [], {}
        for part in self.features.split(","):
            name, colon, kind = part.strip().rpartition(":")
            if not colon or kind not in KINDS:
                name = part.strip()
            else:
                kinds[name] = kind
            if not name:
                raise ParameterError(f"An empty name among the features {self.features!r}; give columns with commas.")
            names.append(name)
        return names, kinds

    @property
    def from_file(self) -> bool:
        return self.features is not None and Path(self.features).suffix.lower() in (".npz", ".npy")

    def to_toml(self) -> str:
        """All of it but what is None; paths absolute, so that the run can be repeated from anywhere."""
        values = {name: value for name, value in asdict(self).items() if value is not None and name != "parameters"}
        for name in ("nodes", "edges", "features"):
            if name in values and (name != "features" or self.from_file):
                values[name] = str(Path(values[name]).resolve())
        # TOML has no null
        values["parameters"] = {name: "none" if value is None else value for name, value in self.parameters.items()}
        head = f"# Made by ncgc {__version__}. Repeat this run with: ncgc fit --config <this file> --out <folder>\n"
        return head + tomli_w.dumps(values)


NAMES = tuple(row.name for row in fields(FitConfig) if row.name != "parameters")


def read_fit_config(path: str | Path) -> dict[str, Any]:
    """The settings in a TOML file, by their names in :class:`FitConfig`; unknown ones get a sentence."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(f"{path} cannot be read ({error.strerror or error}).") from None
    except ValueError as error:
        raise ParameterError(f"{path} is not valid TOML: {error}.") from None
    parameters = table.pop("parameters", {})
    if not isinstance(parameters, Mapping):
        raise ParameterError(f"{path}: 'parameters' must be a table. Got {parameters!r} instead.")
    for name in table:
        if name not in NAMES:
            misplaced = f"the key {name!r} belongs in the table [parameters]."
            raise ParameterError(f"{path}: {misplaced if name in HYPER else unknown_name(name, NAMES, 'key')}")
        if not isinstance(table[name], int | float if name in ("folds", "seed", "abstain", "budget") else str):
            raise ParameterError(f"{path}: the key {name!r} has the value {table[name]!r}, which is of the wrong kind.")
    try:
        hyper = _hyper(table.get("method", OURS))
        values = {name: from_word(hyper.get(name), value) for name, value in parameters.items()}
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        _check_parameters(values, table.get("method", OURS))
    except NCGCError as error:
        raise ParameterError(f"{path}: {error}") from None
    return {**table, "parameters": values}


def _hyper(method: str) -> dict[str, Any]:
    return {} if method == AUTO else hyper_of(method)


def _check_parameters(values: Mapping[str, Any], method: str) -> None:
    if "random_state" in values:
        raise ParameterError("The seed of a run is its 'seed'; give no 'random_state' among the parameters.")
    if method == OURS:
        check_parameters(values, "ncgc fit", NCGC_PARAMETERS)
        return
    hyper = _hyper(method)
    for name, value in values.items():
        if method == AUTO:
            raise ParameterError(f"With the method 'auto' no parameter can be given. Got {name!r}; name a method.")
        if name not in hyper:
            raise ParameterError(unknown_name(name, hyper, f"parameter of {method}"))
        hyper[name].check(value, method)
