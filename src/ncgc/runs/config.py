"""What a run is made of, in TOML: read with every key checked, written so that the run can be repeated.

    dataset = "digits"            # the run: dataset, method, backbone, split, labels_per_class, val_per_class, seed, runs
    split = "few"
    labels_per_class = 1

    [parameters]                  # every other hyper-parameter of the method (NCGC unless named), by its name in Python
    beta = 0.003
    norm = "none"                 # TOML has no null

There is one place for each key, and a key in the wrong one is told where it belongs. `version` and `drawn` (the seeds
drawn from `seed`, for the record) are written into results and skipped when read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from ncgc import __version__
from ncgc.datasets.catalogue import find_info
from ncgc.datasets.splits import KINDS
from ncgc.errors import NCGCError, ParameterError
from ncgc.files import write_text
from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.params.parameter import Parameter, unknown_name

Settings = dict[str, Any]

# The seed of a run is that of its split too, so random_state is not a key of its own.
HYPER = {name: parameter for name, parameter in NCGC_PARAMETERS.items() if name != "random_state"}
_GROUP = "Run"
RUN: dict[str, Parameter] = {
    row.name: row
    for row in (
        Parameter("split", "random", str, "which nodes train, validate and test", _GROUP, choices=KINDS),
        Parameter("labels_per_class", None, int, "training nodes of each class (random: 20, few: 1)", _GROUP, low=1, optional=True),
        Parameter("val_per_class", None, int, "validation nodes of each class (random: 30, few: 0)", _GROUP, low=0, optional=True),
        Parameter("seed", 0, int, "seed of split and model; of several runs, of the first", _GROUP, low=0, high=2**32 - 1),
        Parameter("runs", 1, int, "how many runs, each with the next seed", _GROUP, low=1),
    )
}  # fmt: skip
RECORD = ("version", "drawn")
OURS = "ncgc"
TOP = ("dataset", "method", "backbone", *RUN)


def hyper_of(method: str) -> dict[str, Parameter]:
    """The hyper-parameters of NCGC, or of a method of ``ncgc.models.registry`` by its name; without the seed.

    >>> list(hyper_of("label_spreading"))
    ['alpha', 'iterations', 'tolerance']
    """
    if method == OURS:
        return HYPER
    from ncgc.models.registry import find_classifier  # slow: torch

    return {name: row for name, row in find_classifier(method).PARAMETERS.items() if name != "random_state"}


def make_estimator(method: str, parameters: Mapping[str, Any], seed: int) -> Any:
    """NCGC, or the method of this name, not fitted yet; a method that draws nothing has no use for the seed."""
    if method == OURS:
        from ncgc.models.ncgc import NCGC

        return NCGC(**parameters, random_state=seed)
    from ncgc.models.registry import find_classifier

    kind = find_classifier(method)
    return kind(**parameters, **({"random_state": seed} if "random_state" in kind.PARAMETERS else {}))


@dataclass(frozen=True)
class RunConfig:
    """A run of `ncgc train`: data set, split, seeds and every hyper-parameter.

    >>> config = RunConfig.from_layers({"dataset": "digits", "seed": 3}, {"seed": 4, "beta": 0.01})
    >>> config.seed, config.split, config.parameters["beta"]
    (4, 'random', 0.01)
    """

    dataset: str
    split: str
    labels_per_class: int | None
    val_per_class: int | None
    seed: int
    runs: int
    parameters: Settings = field(default_factory=dict)
    method: str = OURS

    @classmethod
    def from_layers(cls, *layers: Mapping[str, Any]) -> RunConfig:
        """The defaults with each layer of settings laid over the ones before it, checked."""
        method = next((layer["method"] for layer in reversed(layers) if "method" in layer), OURS)
        hyper = hyper_of(method)
        settings: Settings = {name: row.default for name, row in (RUN | hyper).items()}
        for layer in layers:
            settings |= layer
        for name, value in settings.items():
            check_setting(name, value, method)
        dataset = find_info(settings["dataset"]).name
        run = {name: settings[name] for name in RUN}
        return cls(dataset=dataset, **run, parameters={name: settings[name] for name in hyper}, method=method)

    @property
    def seeds(self) -> list[int]:
        return [self.seed + run for run in range(self.runs)]

    def to_toml(self, drawn: Sequence[Mapping[str, int]] = ()) -> str:
        """The whole configuration; ``drawn`` are the seeds that each run drew, for the record."""
        values: Settings = {"version": __version__, "dataset": self.dataset}
        values |= {"backbone": self.parameters["backbone"]} if self.method == OURS else {"method": self.method}
        values |= {name: getattr(self, name) for name in RUN}
        table: dict[str, Any] = {name: _to_toml(value) for name, value in values.items()}
        table["parameters"] = {name: _to_toml(value) for name, value in self.parameters.items() if name != "backbone"}
        if drawn:
            table["drawn"] = [dict(seeds) for seeds in drawn]
        return "# Repeat this run with: ncgc train --config <this file>\n" + tomli_w.dumps(table)

    def save(self, path: str | Path, drawn: Sequence[Mapping[str, int]] = ()) -> None:
        write_text(path, self.to_toml(drawn))


def check_setting(name: str, value: Any, method: str = OURS) -> None:
    """Raise an NCGCError unless this is a known setting of the method with an allowed value."""
    hyper = hyper_of(method)
    if name == "dataset":
        find_info(value)
    elif name == "method":
        hyper_of(value)
    elif name in RUN:
        RUN[name].check(value, "ncgc train")
    elif name in hyper:
        hyper[name].check(value, "NCGC" if method == OURS else method)
    elif name in HYPER:
        raise ParameterError(f"{method} has no parameter {name!r}; it has {', '.join(hyper)}.")
    else:
        raise ParameterError(unknown_name(name, [*TOP, *hyper], "setting"))


def read_config(path: str | Path) -> Settings:
    """The settings that a TOML file gives, flat, each checked; what it leaves out is left out."""
    path = Path(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(f"The configuration {path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{path} is not a text file in UTF-8; give a TOML configuration.") from None
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{path} is not valid TOML: {error}.") from None
    parameters = table.pop("parameters", {})
    if not isinstance(parameters, dict):
        raise ParameterError(f"{path}: 'parameters' must be a table. Got {parameters!r} instead.")
    settings: Settings = {}
    method = _checked(path, "method", table.get("method", OURS))
    hyper = hyper_of(method)
    for name, value in table.items():
        if name in RECORD:
            continue
        if name in hyper and name not in TOP:
            raise ParameterError(f"{path}: the key {name!r} belongs in the table [parameters].")
        if name not in TOP:
            raise ParameterError(f"{path}: {unknown_name(name, [*TOP, 'parameters', *hyper], 'key')}")
        settings[name] = _checked(path, name, value, method)
    for name, value in parameters.items():
        if name == "random_state":
            raise ParameterError(f"{path}: the key 'random_state' is called 'seed' and belongs at the top.")
        if name in TOP:
            raise ParameterError(f"{path}: the key {name!r} belongs at the top, before [parameters].")
        if name not in hyper:
            raise ParameterError(f"{path}: {unknown_name(name, [*hyper, *TOP], 'key')}")
        settings[name] = _checked(path, name, value, method)
    return settings


def from_word(parameter: Parameter | None, value: Any) -> Any:
    """The value itself, but None for the word "none" where None is allowed."""
    none = parameter is not None and parameter.optional and isinstance(value, str) and value.strip().lower() == "none"
    return None if none else value


def _checked(path: Path, name: str, value: Any, method: str = OURS) -> Any:
    value = from_word((RUN | hyper_of(method)).get(name), value)
    if name == "method" and not isinstance(value, str):
        raise ParameterError(f"{path}: the key 'method' must be a name. Got {value!r} instead.")
    try:
        check_setting(name, value, method)
    except NCGCError as error:
        raise ParameterError(f"{path}: {error}") from None
    return value


def _to_toml(value: Any) -> Any:
    if value is None:
        return "none"
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
