"""What a report is made of: plain arrays and lists, checked once, so that the page need not ask where they come from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ncgc.evaluation.metrics import calibration_error

BINS = 15  # of the reliability diagram and of its error, as in ncgc.evaluation.metrics


@dataclass(frozen=True)
class Reliability:
    """How often the labels of a given confidence are right.

    Attributes:
        bins: (mean confidence, accuracy, number of nodes) of each bin that has nodes.
        error: the expected calibration error.
        measured: a sentence that says on which nodes, and how.
    """

    bins: Sequence[tuple[float, float, int]]
    error: float
    measured: str

    @classmethod
    def of(cls, probabilities: np.ndarray, truth: np.ndarray, measured: str) -> Reliability:
        """Measure it on (m, K) probabilities of nodes whose (m,) labels are known and were not trained on.

        >>> Reliability.of(np.array([[0.8, 0.2], [0.8, 0.2]]), np.array([0, 1]), "On two nodes.").bins
        [(0.8, 0.5, 2)]
        """
        return cls.of_confidence(probabilities.max(axis=1), probabilities.argmax(axis=1) == truth, measured)

    @classmethod
    def of_confidence(cls, confidence: np.ndarray, right: np.ndarray, measured: str) -> Reliability:
        """The same from the (m,) confidences of the labels and whether they were right."""
        place = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
        bins = []
        for number in np.unique(place).tolist():
            inside = place == number
            bins.append((float(confidence[inside].mean()), float(right[inside].mean()), int(inside.sum())))
        return cls(bins, calibration_error(confidence, right, BINS), measured)


@dataclass(frozen=True)
class Abstain:
    """The accuracy that was asked for, the confidence it takes, and how many nodes fall short and stay unlabelled."""

    accuracy: float
    threshold: float
    unlabelled: int


@dataclass(frozen=True)
class Suggestion:
    """A node worth labelling next: its index, how much (the higher the more), and why in a few words."""

    node: int
    score: float
    reason: str = ""


@dataclass(frozen=True)
class Candidate:
    """A method that was tried: its share of held-out labels right, of how many, and the seconds; None: not tried, no time."""

    name: str
    accuracy: float | None = None
    labels: int = 0
    seconds: float = 0.0
    taken: bool = False


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that a report shows. What is left at its default is left out of the page.

    Attributes:
        title: the heading, such as the data set's name. created: when, in words. version: of ncgc. seconds: of training.
        classes: (K,) class names. node_ids: (n,) the nodes' names, strings or numbers.
        given: (n,) class of each node that training was given, -1 for none.
        predicted: (n,) class that the model gives each node, -1 where it was told to leave a node unlabelled.
        probabilities: (n, K).
        facts: (name, value) pairs about the graph: ("nodes", 2708), ("weighted", False), ...
        notes: sentences from reading the tables. columns: (column, kind, count) of the features read.
        truth: (n,) labels that are known but were not trained on, -1 for none: for accuracy and the confusion matrix.
        embedding2d: (n, 2) places on the map, from :func:`ncgc.report.layout_2d`.
        history: column to one number an epoch, None (or NaN) where an epoch had none; "epoch" gives the numbers.
        best_epoch: the epoch whose weights were kept.
        candidates: the methods that the one here was chosen from. choice: why, in a sentence.
        settings: name to value. changed: the names of those that are not at their default.
        command: what to type to get this result again.
        seed: of the draw of nodes when there are too many for the map.
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
    facts: Sequence[tuple[str, Any]] = ()
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
            raise ValueError("The columns of 'history' have different lengths; give one number (or None) an epoch.")
        bare = int(((self.predicted < 0) & (self.given < 0)).sum())
        if self.abstain is not None and self.abstain.unlabelled != bare:
            raise ValueError(
                f"'abstain' says that {self.abstain.unlabelled} nodes stay unlabelled, but {bare} nodes have the number -1 "
                "in 'predicted'; set it there for each of them."
            )
        for suggestion in self.suggestions:
            if not 0 <= suggestion.node < n:
                raise ValueError(f"A suggestion names node {suggestion.node}; the nodes are numbered 0 to {n - 1}.")

    @cached_property
    def labels(self) -> np.ndarray:
        """(n,) the label of every node: the given one where given, else the predicted one, -1 for none."""
        return np.where(self.given >= 0, self.given, self.predicted)

    @cached_property
    def confidence(self) -> np.ndarray:
        """(n,) the probability the model gives each node's label; of one left unlabelled, the largest it has."""
        labels = self.labels
        chosen = np.where(labels >= 0, labels, self.probabilities.argmax(axis=1))
        return np.asarray(self.probabilities[np.arange(len(chosen)), chosen])

    @cached_property
    def found(self) -> np.ndarray:
        """(n,) whether a node has a label that it was not given."""
        return np.asarray((self.given < 0) & (self.predicted >= 0))
