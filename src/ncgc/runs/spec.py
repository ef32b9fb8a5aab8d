"""RunSpec: the one description of a run, for `ncgc train`, `ncgc fit` and the benchmark store.

In TOML, with one place for each key:

    dataset = "digits"            # or nodes = "nodes.csv", edges = "edges.csv" and the columns by name
    split = "few"
    labels_per_class = 1
    seed = 3

    [parameters]                  # hyper-parameters of the method (NCGC unless another is named), as in Python
    backbone = "appnp"
    norm = "none"                 # TOML has no null

A stored run is found by its key, a hash of everything that decides its result.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import tomli_w

from ncgc import __version__
from ncgc.datasets.catalogue import family_of, find_info
from ncgc.errors import ParameterError
from ncgc.params.heuristics import automatic_input_dropout, automatic_norm, automatic_weight_decay
from ncgc.params.parameter import Parameter, unknown_name
from ncgc.runs.source import RUN_SETTINGS, DatasetSource, TableSource

if TYPE_CHECKING:
    from ncgc.models.base import NodeClassifier

DEFAULT_METHOD = "ncgc"
AUTO = "auto"  # in place of a method: choose one by cross-validation


@dataclass(frozen=True)
class RunSpec:
    """One run: what is labelled, by which method with which parameters, and what is made of the result.

    Attributes:
        data: the data set or the tables.
        method: a name of ``ncgc.models.registry``, or "auto" to choose one by cross-validation.
        parameters: hyper-parameters of the method; the others are at their defaults.
        seed: of the split and the model. On splits that are not drawn, of the model alone.
        runs: how many runs, each with the next seed.
        folds: of cross-fitting, to calibrate confidence; 0 turns it off.
        abstain: the accuracy that predicted labels should have; None: every node gets a label.
        format: of the predictions, "csv" or "parquet".
        budget: seconds that "auto" may take to choose.

    >>> run = RunSpec.on_dataset("cora", seed=3)
    >>> run.key == RunSpec.on_dataset("cora", seed=3, parameters={"epochs": 150}).key  # 150 is the default
    True
    """

    data: DatasetSource | TableSource
    method: str = DEFAULT_METHOD
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    runs: int = 1
    folds: int = 0
    abstain: float | None = None
    format: str = "csv"
    budget: float = 300.0

    @classmethod
    def on_dataset(
        cls,
        name: str,
        split: str = "random",
        labels_per_class: int | None = None,
        seed: int = 0,
        method: str = DEFAULT_METHOD,
        blind: bool = False,
        parameters: Mapping[str, Any] | None = None,
    ) -> RunSpec:
        """A run on a data set by name.

        Args:
            name, split, labels_per_class, blind: see :class:`DatasetSource`.
            seed, method, parameters: see the attributes above.

        Returns:
            The run, not checked yet.
        """
        return cls(DatasetSource(name, split, labels_per_class, blind=blind), method, parameters or {}, seed)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> RunSpec:
        """A run from settings by their names in TOML; those that are left out have their defaults.

        Args:
            settings: ``dataset`` or ``nodes`` among them; ``parameters`` is a mapping.

        Returns:
            The run, checked.

        Raises:
            NCGCError: if a setting is unknown or out of range.
        """
        from ncgc.evaluation.calibration import FOLDS  # slow: scikit-learn

        kind: type[DatasetSource | TableSource] = TableSource if "nodes" in settings else DatasetSource
        own = {name: settings[name] for name in kind.settings if name in settings}
        if kind is DatasetSource:
            own["name"] = find_info(settings["dataset"]).name
        rest: dict[str, Any] = {"folds": FOLDS} if kind is TableSource else {}
        rest |= {name: settings[name] for name in ("method", "parameters", *kind.run_settings) if name in settings}
        return cls(kind(**own), **rest).check()

    @property
    def dataset(self) -> DatasetSource:
        """The data set of a run that has one; a TypeError for tables."""
        if not isinstance(self.data, DatasetSource):
            raise TypeError(f"This run labels {self.data.nodes}, which is no data set.")
        return self.data

    @property
    def tables(self) -> TableSource:
        """The tables of a run that has some; a TypeError for a data set."""
        if not isinstance(self.data, TableSource):
            raise TypeError(f"This run labels the data set {self.data.name}, which has no tables.")
        return self.data

    @property
    def seeds(self) -> list[int]:
        """The seed of every run."""
        return [self.seed + number for number in range(self.runs)]

    def with_seed(self, seed: int) -> RunSpec:
        """The single run with this seed.

        Args:
            seed: of the split and the model.

        Returns:
            A copy with one run.
        """
        return replace(self, seed=seed, runs=1)

    @property
    def settings(self) -> dict[str, Any]:
        """Every hyper-parameter that has an effect, given or default."""
        return find_classifier(self.method).effective_parameters(self.parameters)

    @cached_property
    def key(self) -> str:
        """Sixteen hexadecimal digits that are equal for equal runs on a data set."""
        return _key(self.dataset, self.seed, self.method, self.settings)

    def check(self) -> RunSpec:
        """This run, if all its settings are allowed.

        Raises:
            NCGCError: with what is wrong and what would be right.
        """
        self.data.check()
        for name, row in RUN_SETTINGS.items():
            row.check(getattr(self, name), self.data.command)
        if self.folds == 1:
            raise ParameterError(f"The 'folds' parameter of {self.data.command} must be 0 or from 2. Got 1 instead.")
        if self.abstain is not None and not self.folds:
            raise ParameterError("Abstaining needs a calibrated confidence; leave --folds at its default.")
        known = parameters_of(self.method)
        for name, value in self.parameters.items():
            if name not in known:
                raise ParameterError(unknown_parameter(name, self.method))
            known[name].check(value, owner_of(self.method))
        return self

    def to_toml(self, drawn: Sequence[Mapping[str, int]] = (), head: str | None = None) -> str:
        """The run as a TOML file that repeats it.

        Args:
            drawn: the seeds that each run drew from its own, for the record.
            head: the comment at the top; default: how to repeat the run.

        Returns:
            The text of the file.
        """
        values = {**self.data.to_dict(), "method": self.method}
        values |= {name: getattr(self, name) for name in self.data.run_settings}
        table: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
        table["parameters"] = {name: _to_toml(value) for name, value in self.parameters.items()}
        if drawn:
            table["drawn"] = [dict(seeds) for seeds in drawn]
        if head is None:
            head = f"Made by ncgc {__version__}. Repeat this run with: {self.data.command} --config <this file> --out <folder>"
        return f"# {head}\n" + tomli_w.dumps(table)


# ---------------------------------------------------------------- parameters of a method


def find_classifier(method: str) -> type[NodeClassifier]:
    """The class of a method.

    Args:
        method: a name of ``ncgc.models.registry``.

    Returns:
        The class.

    Raises:
        ParameterError: with the nearest name, for an unknown one.
    """
    from ncgc.models.registry import find_classifier as find  # slow: torch

    return find(method)


def parameters_of(method: str) -> dict[str, Parameter]:
    """The hyper-parameters of a method, without ``random_state``: a run has a seed instead.

    Args:
        method: a name of ``ncgc.models.registry``, or "auto", which has none.

    Returns:
        Declared parameters by name.

    >>> list(parameters_of("label_spreading"))
    ['alpha', 'iterations', 'tolerance']
    """
    if method == AUTO:
        return {}
    return {name: row for name, row in find_classifier(method).PARAMETERS.items() if name != "random_state"}


def owner_of(method: str) -> str:
    """The name of a method's class, for messages.

    Args:
        method: a name of ``ncgc.models.registry``.

    Returns:
        The name of the class.
    """
    return find_classifier(method).__name__


def unknown_parameter(name: str, method: str) -> str:
    """The message for a parameter that a method does not have.

    Args:
        name: of the parameter.
        method: a name of ``ncgc.models.registry``, or "auto".

    Returns:
        A sentence with the nearest name.
    """
    if method == AUTO:
        return f"The method 'auto' takes no parameters. Got {name!r}; name a method."
    if name == "random_state":
        return "The seed of a run is its 'seed'; give no 'random_state' among the parameters."
    return unknown_name(name, parameters_of(method), f"parameter of {owner_of(method)}")


def defaults_of(method: str) -> dict[str, Any]:
    """The default of every hyper-parameter of a method, without ``random_state``.

    Args:
        method: a name of ``ncgc.models.registry``, or "auto", which has none.

    Returns:
        Defaults by name.
    """
    return {name: row.default for name, row in parameters_of(method).items()}


def recommended(
    method: str, given: Mapping[str, Any], dataset: str | None = None, preset: str = "default"
) -> dict[str, Any]:
    """Hyper-parameters of a method: those given, and for the others what the settings files recommend.

    Args:
        method: a name of ``ncgc.models.registry``, or "auto", which has none.
        given: hyper-parameters by name.
        dataset: the data set, for settings that depend on it.
        preset: which settings of NCGC: "default", "tuned" or "paper".

    Returns:
        Hyper-parameters by name; those in neither are left out.
    """
    if method == AUTO:
        return {}
    from ncgc.models.registry import settings_for  # slow: torch

    return {**settings_for(method, dataset, given, preset), **given}


def _to_toml(value: Any) -> Any:
    if value is None:
        return "none"
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


# ---------------------------------------------------------------- keys


def key_of_record(record: Mapping[str, Any]) -> str:
    """The key of a stored run.

    A parameter that is younger than the record counts as what was done before it existed.

    Args:
        record: a line of the benchmark store.

    Returns:
        The key, as in :attr:`RunSpec.key`.
    """
    dataset, split, labels_per_class = (record[name] for name in ("dataset", "split", "labels_per_class"))
    data = DatasetSource(dataset, split, labels_per_class, blind=record.get("blind", False))
    from ncgc.models.registry import CLASSIFIERS  # slow: torch

    kind = CLASSIFIERS.get(record["method"])  # None of a method that is no more
    settings = record["settings"] if kind is None else kind.past_parameters(record["settings"])
    return _key(data, record["seed"], record["method"], settings)


def _key(data: DatasetSource, seed: int, method: str, settings: Mapping[str, Any]) -> str:
    split, labels_per_class = data.split, data.labels_per_class
    if split == "paper" and family_of(data.name) != "citation":
        split = "random"  # the paper draws these anew for every seed, just as we do
    if labels_per_class is None:
        labels_per_class = {"random": 20, "few": 1}.get(split)  # what such a split takes by itself
    from ncgc.models.registry import CLASSIFIERS  # slow: torch

    # keys are made with the name that a parameter had when the first runs were stored
    known = CLASSIFIERS[method].PARAMETERS if method in CLASSIFIERS else {}
    former = {name: row.former_name for name, row in known.items() if row.former_name}
    named = {former.get(name, name): value for name, value in settings.items()}
    done = {name: _plain(value) for name, value in resolve_auto(data.name, named).items()}
    parts = [data.name, split, labels_per_class, seed, method, data.blind, done]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def resolve_auto(dataset: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Replace "auto" by the value it has on a data set, so that a key depends on what is done, not on its name.

    Args:
        dataset: name of the data set.
        settings: hyper-parameters by name.

    Returns:
        The same settings without "auto" in norm, input_dropout and weight_decay.

    >>> resolve_auto("photo", {"norm": "auto"}), resolve_auto("cs", {"weight_decay": "auto"})
    ({'norm': 'layer'}, {'weight_decay': 0.0005})
    """
    about = find_info(dataset)
    values = {
        "norm": automatic_norm(about.density),
        "input_dropout": automatic_input_dropout(about.density),
        "weight_decay": automatic_weight_decay(about.mean_degree, about.density),
    }
    auto = {name for name in values if isinstance(settings.get(name), str) and settings[name] == AUTO}
    return {name: values[name] if name in auto else value for name, value in settings.items()}


def _plain(value: Any) -> Any:
    """Numbers as floats, so that 1 and 1.0 are one setting."""
    if isinstance(value, tuple | list | np.ndarray):
        return [_plain(part) for part in value]
    if isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return value
