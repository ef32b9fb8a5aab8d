"""RunResult: a fitted model with what it was fitted on, and everything measured of it under one set of names.

    test_accuracy, val_accuracy, test_macro_f1, test_calibration_error, seconds, peak_mib, best_epoch, epochs,
    termination

These are the names in ``--json``, in metrics.json and in the benchmark store.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ncgc import __version__
from ncgc.runs.environment import environment
from ncgc.runs.spec import RunSpec

if TYPE_CHECKING:
    from ncgc.runs.load import LabelledGraph
    from ncgc.selection.active import NextLabel
    from ncgc.selection.auto import Choice

LOSSES = ("class", "kl", "pl", "total")
INTERRUPTED = "interrupted"
OLD_NAMES = {"macro_f1": "test_macro_f1", "ece": "test_calibration_error"}  # in lines that were stored earlier


class Interrupted(Exception):
    """The run was stopped before its end; nothing of it may be stored."""


@dataclass(frozen=True, eq=False)
class RunResult:
    """A fitted model and a label for every node.

    Attributes:
        spec: the run, with the method that "auto" came to.
        data: the graph and its split.
        model: the fitted model.
        seconds: time of fitting.
        peak_mib: peak memory of the process by then, None where it cannot be measured.
        warnings: what went wrong while fitting without ending it.
        threshold: confidence below which a predicted label is withheld; 0 withholds none.
        suggestions: nodes worth labelling next, best first.
        choice: how the method was chosen, where it was "auto".
    """

    spec: RunSpec
    data: LabelledGraph
    model: Any
    seconds: float
    peak_mib: float | None = None
    warnings: tuple[str, ...] = ()
    threshold: float = 0.0
    suggestions: Sequence[NextLabel] = ()
    choice: Choice | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the training early."""
        return bool(self.model.termination_ == INTERRUPTED)

    @property
    def communication(self) -> Any:
        """What a training in several processes cost in memory and messages; None of one process."""
        return getattr(self.model, "communication_", None)

    # ---------------------------------------------------------------- labels

    @cached_property
    def probabilities(self) -> np.ndarray:
        """(n, K) probabilities of all nodes."""
        values: np.ndarray = self.model.predict_proba()
        return values

    @property
    def given(self) -> np.ndarray:
        """(n,) the classes that training was given, -1 elsewhere."""
        return self.data.split.training_labels(self.data.graph)

    @property
    def predicted(self) -> np.ndarray:
        """(n,) the class the model gives each node; -1 where it is too uncertain and no label was given."""
        uncertain = (self.probabilities.max(axis=1) < self.threshold) & (self.given < 0)
        return np.where(uncertain, -1, self.probabilities.argmax(axis=1))

    @property
    def labels(self) -> np.ndarray:
        """(n,) the given class where given, otherwise the predicted one, -1 for none."""
        given = self.given
        return np.where(given >= 0, given, self.predicted)

    @property
    def truth(self) -> np.ndarray | None:
        """(n,) labels known but not trained on, -1 elsewhere; None without any."""
        held = np.concatenate([self.data.split.val, self.data.split.test])
        if not len(held):
            return None
        truth = np.full(self.data.graph.num_nodes, -1, dtype=np.int64)
        truth[held] = self.data.graph.labels[held]
        return truth

    # ---------------------------------------------------------------- numbers

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """What was measured, by name; None for what cannot be, such as accuracy without test nodes."""
        from ncgc.evaluation.metrics import accuracy, expected_calibration_error, macro_f1

        graph, test, val = self.data.graph, self.data.split.test, self.data.val
        best, truth = self.probabilities.argmax(axis=1), graph.labels
        return {
            "test_accuracy": accuracy(best[test], truth[test]) if len(test) else None,
            "val_accuracy": accuracy(best[val], truth[val]) if len(val) else None,
            "test_macro_f1": macro_f1(best[test], truth[test], graph.num_classes) if len(test) else None,
            "test_calibration_error": (
                expected_calibration_error(self.probabilities[test], truth[test]) if len(test) else None
            ),
            "seconds": self.seconds,
            "peak_mib": self.peak_mib,
            "best_epoch": self.model.best_epoch_,
            "epochs": len(self.model.history_),
            "termination": self.model.termination_,
        }

    @property
    def losses(self) -> dict[str, float | None]:
        """The parts of the loss in the epoch that was kept; None for those that were off."""
        row = self.model.history_.at(self.model.best_epoch_)
        return {part: finite(row.get(part)) for part in LOSSES}

    @property
    def drawn(self) -> dict[str, int]:
        """The seed of the run and the seeds drawn from it."""
        seeds: dict[str, int] = getattr(self.model, "seeds_", {})
        return {"seed": self.spec.seed, **{name: int(value) for name, value in seeds.items()}}

    @property
    def labels_per_class(self) -> int | None:
        """Training labels of each class; None where classes have different numbers."""
        present = np.bincount(self.data.graph.labels[self.data.split.train])
        sizes = set(present[present > 0].tolist())
        return sizes.pop() if len(sizes) == 1 else None

    def record(self) -> dict[str, Any]:
        """One line of the benchmark store: the run, its metrics, and the versions it was made with.

        Raises:
            Interrupted: if the training was stopped before its end.
        """
        if self.interrupted:
            raise Interrupted
        spec, measured = self.spec, dict(self.metrics)
        measured["seconds"] = round(self.seconds, 3)
        if not len(self.model.history_):  # nothing was trained
            measured = {
                name: measured[name] for name in measured if name not in ("best_epoch", "epochs", "termination")
            }
        record = {
            "dataset": spec.dataset.name,
            "split": spec.dataset.split,
            "labels_per_class": spec.dataset.labels_per_class,
            "seed": spec.seed,
            "method": spec.method,
            "blind": spec.dataset.blind,
            **measured,
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            "settings": spec.settings,
            **environment(),
        }
        return {name: finite(value) if isinstance(value, float) else value for name, value in record.items()}

    def to_dict(self) -> dict[str, Any]:
        """The contents of metrics.json and ``--json`` of `ncgc fit`."""
        graph, calibration, labels = self.data.graph, self.model.calibration_, self.labels
        free = self.given < 0
        shares = np.bincount(labels[labels >= 0], minlength=graph.num_classes)
        values = {
            "version": __version__,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "classes": [str(name) for name in graph.classes.tolist()],
            "given": int((~free).sum()),
            "predicted": int((free & (labels >= 0)).sum()),
            "withheld": int((labels < 0).sum()),
            "mean_confidence": float(self.probabilities.max(axis=1)[free].mean()) if free.any() else None,
            "shares": (shares / max(shares.sum(), 1)).tolist(),
            **self.metrics,
            "temperature": None if calibration is None else calibration.temperature,
            "calibrated": None if calibration is None else calibration.measured,
            "calibration_error": None if calibration is None or not len(calibration.right) else calibration.error,
            "threshold": self.threshold,
            "seed": self.spec.seed,
            "method": self.spec.method,
            "choice": None if self.choice is None else self.choice.to_dict(),
        }
        found: dict[str, Any] = without_infinite(values)
        return found

    def one_of_several(self) -> dict[str, Any]:
        """One entry under "runs" in metrics.json and ``--json`` of `ncgc train`."""
        prior = getattr(self.model, "prior_", None)
        values = {"seed": self.spec.seed, **self.metrics, "loss": self.losses}
        found: dict[str, Any] = without_infinite(values)
        return {**found, "prior": [] if prior is None else [float(share) for share in prior]}


def summary(spec: RunSpec, results: Sequence[RunResult]) -> dict[str, Any]:
    """The contents of metrics.json and ``--json`` of `ncgc train`.

    Of several runs: means (and standard deviations, n - 1) of what is measured on nodes and of losses, the sum of
    seconds, the highest peak memory, and null for what has no mean; each run is under "runs".

    Args:
        spec: all runs together.
        results: of the runs that were made, in order.

    Returns:
        Metrics by name, in JSON's types.
    """
    together: dict[str, Any] = {
        "dataset": spec.dataset.name,
        "method": spec.method,
        "backbone": spec.parameters.get("backbone"),
        "split": spec.dataset.split,
        "seed": spec.seed,
        "labels_per_class": results[0].labels_per_class,
    }
    runs = [result.one_of_several() for result in results]
    if spec.runs == 1:
        return {**together, **runs[0], "version": __version__}
    for name in ("val_accuracy", "test_accuracy", "test_macro_f1", "test_calibration_error"):
        values = [run[name] for run in runs]
        together |= {name: mean(values), f"{name}_std": deviation(values)}
    terminations = {run["termination"] for run in runs}
    ended = terminations.pop() if len(terminations) == 1 else None
    return {
        **together,
        "best_epoch": None,
        "epochs": None,
        "seconds": sum(run["seconds"] for run in runs),
        "peak_mib": max((run["peak_mib"] for run in runs if run["peak_mib"] is not None), default=None),
        "loss": {part: mean([run["loss"][part] for run in runs]) for part in LOSSES},
        "termination": INTERRUPTED if any(result.interrupted for result in results) else ended,
        "prior": None,
        "version": __version__,
        "runs": runs,
    }


def normalise_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A stored line under the present names of metrics.

    Args:
        record: a line of the benchmark store.

    Returns:
        The same values under the names of :attr:`RunResult.metrics`.

    >>> normalise_record({"seed": 0, "ece": 0.1})
    {'seed': 0, 'test_calibration_error': 0.1}
    """
    return {OLD_NAMES.get(name, name): value for name, value in record.items()}


# ---------------------------------------------------------------- numbers for JSON


def json_line(value: Any, indent: int | None = None) -> str:
    """A value as JSON text.

    Args:
        value: what JSON can hold.
        indent: spaces of each level; None for a single line.

    Returns:
        The text, without a newline at its end.

    Raises:
        ValueError: for NaN and infinity, which JSON does not have.
    """
    return json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False)


def finite(value: float | None) -> float | None:
    """The number, or None where it is infinite or not a number.

    Args:
        value: a number or None.

    Returns:
        A finite number or None.
    """
    return None if value is None or not math.isfinite(value) else float(value)


def without_infinite(value: Any) -> Any:
    """The same value with None for every number that JSON does not have: NaN and infinity.

    Args:
        value: mappings and lists, however nested, or a single value.

    Returns:
        A copy.
    """
    if isinstance(value, dict):
        return {name: without_infinite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [without_infinite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are not None; None without any.

    Args:
        values: numbers or None.

    Returns:
        Their mean.

    >>> mean([1.0, 2.0, None]), mean([None])
    (1.5, None)
    """
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def deviation(values: Sequence[float | None]) -> float | None:
    """The sample standard deviation; None for fewer than two values.

    Args:
        values: numbers or None, which is left out.

    Returns:
        The deviation, with n − 1 in its denominator.

    >>> deviation([1.0, 3.0]), deviation([1.0])
    (1.4142135623730951, None)
    """
    known = [value for value in values if value is not None]
    return float(np.std(known, ddof=1)) if len(known) > 1 else None
