"""ReportData: everything a report shows, as plain arrays and lists, checked once. The page depends on nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ncgc.evaluation.metrics import calibration_error

BINS = 15  # of the reliability diagram and its error, as in ncgc.evaluation.metrics


@dataclass(frozen=True)
class Reliability:
    """How often the labels of a given confidence are right.

    Attributes:
        bins: (mean confidence, accuracy, number of nodes) of each bin that has nodes.
        error: the expected calibration error.
        measured: on which nodes and how, as a sentence.
    """

    bins: Sequence[tuple[float, float, int]]
    error: float
    measured: str

    @classmethod
    def of(cls, probabilities: np.ndarray, truth: np.ndarray, measured: str) -> Reliability:
        """Reliability on nodes whose labels are known and were not trained on.

        Args:
            probabilities: (m, K).
            truth: (m,) class numbers.
            measured: on which nodes and how, as a sentence.

        Returns:
            The reliability, in 15 bins of confidence.

        >>> Reliability.of(np.array([[0.8, 0.2], [0.8, 0.2]]), np.array([0, 1]), "On two nodes.").bins
        [(0.8, 0.5, 2)]
        """
        return cls.of_confidence(probabilities.max(axis=1), probabilities.argmax(axis=1) == truth, measured)

    @classmethod
    def of_confidence(cls, confidence: np.ndarray, right: np.ndarray, measured: str) -> Reliability:
        """The same from confidences.

        Args:
            confidence: (m,) probability of each predicted label.
            right: (m,) whether it was correct.
            measured: on which nodes and how, as a sentence.

        Returns:
            The reliability, in 15 bins of confidence.
        """
        place = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
        bins = []
        for number in np.unique(place).tolist():
            inside = place == number
            bins.append((float(confidence[inside].mean()), float(right[inside].mean()), int(inside.sum())))
        return cls(bins, calibration_error(confidence, right, BINS), measured)


@dataclass(frozen=True)
class Abstain:
    """Abstention: the wanted accuracy, the lowest confidence that reaches it, and how many nodes stay unlabelled."""

    accuracy: float
    threshold: float
    unlabelled: int


@dataclass(frozen=True)
class Suggestion:
    """A node worth labelling next: its number, its score (higher is better), and the reason in a few words."""

    node: int
    score: float
    reason: str = ""


@dataclass(frozen=True)
class Candidate:
    """A method that was tried in the choice of a method.

    Attributes:
        name: of the method.
        accuracy: on held-out labels; None where there was no time to try it.
        labels: number of held-out labels.
        seconds: of the trial.
        chosen: whether this method was chosen.
    """

    name: str
    accuracy: float | None = None
    labels: int = 0
    seconds: float = 0.0
    chosen: bool = False


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that a report shows. What is left at its default is left out of the page.

    Attributes:
        title: the heading, such as the data set's name.
        created: date and time, in words.
        version: of ncgc.
        seconds: of training.
        classes: (K,) class names.
        node_ids: (n,) names of the nodes, strings or numbers.
        given: (n,) class of each node with a training label, -1 for none.
        predicted: (n,) predicted class of each node, -1 where the model abstains.
        probabilities: (n, K).
        summary_rows: (name, value) pairs about the graph: ("nodes", 2708), ("weighted", False), ...
        notes: sentences from reading the tables.
        columns: (column, kind, count) of the features read.
        truth: (n,) labels that are known but were not trained on, -1 for none: for accuracy and the confusion matrix.
        embedding2d: (n, 2) positions on the map, from :func:`ncgc.report.layout_2d`.
        history: column to one number per epoch, None (or NaN) where an epoch has none; "epoch" gives the numbers.
        best_epoch: the epoch whose weights were kept.
        reliability: of the confidence, where it was measured.
        abstain: accuracy and threshold, where the model abstains.
        suggestions: nodes worth labelling next, best first.
        candidates: the methods that this one was chosen from.
        choice: why it was chosen, in a sentence.
        settings: name to value.
        changed: names of the settings that are not at their default.
        command: the command that repeats this result.
        seed: of the sample of nodes when there are too many for the map.

    Raises:
        ValueError: if arrays do not fit together.
    """

    title: str
    created: str
    version: str
    seconds: float
    classes: Sequence[str]
    node_ids: Sequence[Any] | np.ndarray
    given: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray
    summary_rows: Sequence[tuple[str, Any]] = ()
    notes: Sequence[str] = ()
    columns: Sequence[tuple[str, str, int]] = ()
    truth: np.ndarray | None = None
    embedding2d: np.ndarray | None = None
    history: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    best_epoch: int | None = None
    reliability: Reliability | None = None
    abstain: Abstain | None = None
    suggestions: Sequence[Suggestion] = ()
    candidates: Sequence[Candidate] = ()
    choice: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    changed: Collection[str] = ()
    command: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        n, k = len(self.node_ids), len(self.classes)
        if n == 0 or k == 0:
            raise ValueError(f"A report needs nodes and classes. Got {n} nodes and {k} classes.")
        shapes: dict[str, tuple[np.ndarray | None, tuple[int, ...]]] = {
            "given": (self.given, (n,)),
            "predicted": (self.predicted, (n,)),
            "truth": (self.truth, (n,)),
            "probabilities": (self.probabilities, (n, k)),
            "embedding2d": (self.embedding2d, (n, 2)),
        }
        for name, (array, shape) in shapes.items():
            if array is None:
                continue
            if array.shape != shape:
                raise ValueError(f"'{name}' must have the shape {shape}. Got {array.shape} instead.")
            if len(shape) == 1 and not (array.min() >= -1 and array.max() < k):
                raise ValueError(
                    f"'{name}' must hold class numbers from -1 to {k - 1}. Got {array.min()}..{array.max()}."
                )
            if not np.isfinite(array).all():
                raise ValueError(f"'{name}' has entries that are not finite.")
        if len({len(values) for values in self.history.values()}) > 1:
            raise ValueError("The columns of 'history' have different lengths; give one number (or None) per epoch.")
        unlabelled = int(((self.predicted < 0) & (self.given < 0)).sum())
        if self.abstain is not None and self.abstain.unlabelled != unlabelled:
            raise ValueError(
                f"By 'abstain' {self.abstain.unlabelled} nodes stay unlabelled, but {unlabelled} nodes have the number -1 "
                "in 'predicted'; set it there for each of them."
            )
        for suggestion in self.suggestions:
            if not 0 <= suggestion.node < n:
                raise ValueError(f"A suggestion names node {suggestion.node}; the nodes are numbered 0 to {n - 1}.")

    @cached_property
    def labels(self) -> np.ndarray:
        """(n,) label of every node: the given one, else the predicted one, -1 for none."""
        return np.where(self.given >= 0, self.given, self.predicted)

    @cached_property
    def confidence(self) -> np.ndarray:
        """(n,) predicted probability of each node's label; of an unlabelled node, the largest."""
        labels = self.labels
        chosen = np.where(labels >= 0, labels, self.probabilities.argmax(axis=1))
        return np.asarray(self.probabilities[np.arange(len(chosen)), chosen])

    @cached_property
    def found(self) -> np.ndarray:
        """(n,) whether a node has a predicted label and no given one."""
        return np.asarray((self.given < 0) & (self.predicted >= 0))
