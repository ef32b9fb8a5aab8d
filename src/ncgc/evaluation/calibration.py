"""Confidence that means something: a temperature for the logits, and which confidence gives which accuracy.

Both are learnt from nodes whose labels the model did not train on: validation nodes where there are some, otherwise the
training nodes themselves, each predicted by a model that was fitted without it (cross-fitting).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import clone

from ncgc.errors import ParameterError
from ncgc.evaluation.metrics import calibration_error

if TYPE_CHECKING:
    from ncgc.models.base import NodeClassifier

FOLDS = 5
LEAST = 10  # nodes to measure on, below which nothing is learnt from them
COLDEST, HOTTEST = 0.05, 20.0  # of temperatures
SPREAD = 0.4  # of ln T before anything is measured: two thirds of all models need a temperature from 0.67 to 1.5

# called with the number of the fold (from 1), how many there are, the epoch and its quantities
FoldWatcher = Callable[[int, int, int, dict[str, float]], None]


@dataclass(frozen=True, eq=False)
class Calibration:
    """p = softmax(logits / temperature), and what became of the nodes it was measured on.

    Attributes:
        temperature: above 1 takes confidence away, below 1 adds some.
        confidence: (m,) calibrated confidence of the nodes measured on, falling.
        right: (m,) whether the label so predicted was theirs.
        measured: in words, on which nodes.

    >>> calibration = Calibration(2.0, np.array([0.9, 0.6]), np.array([True, False]), "on two nodes")
    >>> calibration.probabilities(np.array([[2.0, 0.0]])).round(2)
    array([[0.73, 0.27]])
    """

    temperature: float
    confidence: np.ndarray
    right: np.ndarray
    measured: str

    @classmethod
    def fit(cls, logits: np.ndarray, labels: np.ndarray, measured: str) -> Calibration:
        """From the (m, K) logits of nodes that were not trained on and their (m,) classes.

        The temperature T minimises Σ −log p(label) + ½·(ln T / 0.4)²: the labels' likelihood, and an expectation that T
        is not far from 1. A hundred labels outweigh it; when the few that there are all come out right, which would
        make T as cold as it may be, it keeps confidence below certainty. With fewer than ten nodes T stays 1.
        """
        temperature = 1.0
        if len(labels) >= LEAST:
            found = minimize_scalar(
                lambda log_t: _negative_log_likelihood(logits / np.exp(log_t), labels) + 0.5 * (log_t / SPREAD) ** 2,
                bounds=(np.log(COLDEST), np.log(HOTTEST)),
                method="bounded",
            )
            temperature = float(np.exp(found.x))
        probabilities = softmax(np.asarray(logits, dtype=np.float64) / temperature, axis=1)
        confidence = probabilities.max(axis=1) if len(labels) else np.zeros(0)
        order = np.argsort(-confidence, kind="stable")
        right = probabilities.argmax(axis=1) == labels if len(labels) else np.zeros(0, dtype=bool)
        return cls(temperature, confidence[order], right[order], measured)

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """(n, K) calibrated probabilities of (n, K) logits."""
        calibrated: np.ndarray = softmax(np.asarray(logits, dtype=np.float64) / self.temperature, axis=1)
        return calibrated

    def threshold(self, accuracy: float) -> float:
        """The least confidence c such that, of the nodes measured on with confidence ≥ c, this share is right.

        0 where all of them together are accurate enough; infinite where no ten of them are, so that nothing passes.

        >>> calibration = Calibration(1.0, np.linspace(0.99, 0.5, 20), np.arange(20) < 12, "")
        >>> round(calibration.threshold(0.95), 2), calibration.threshold(0.5)
        (0.71, 0.0)
        """
        if not 0 < accuracy < 1:
            raise ParameterError(f"The accuracy to abstain by must be between 0 and 1. Got {accuracy} instead.")
        if len(self.right) < LEAST:
            return float("inf")
        counts = np.arange(1, len(self.right) + 1)
        shares = np.cumsum(self.right) / counts
        ends = np.append(self.confidence[:-1] > self.confidence[1:], True)  # equals pass together or not at all
        enough = np.flatnonzero((shares >= accuracy) & (counts >= LEAST) & ends)
        if not len(enough):
            return float("inf")
        last = int(enough[-1])
        return 0.0 if last == len(shares) - 1 else float(self.confidence[last])

    @property
    def error(self) -> float:
        """The expected calibration error on the nodes measured on; NaN for none."""
        return calibration_error(self.confidence, self.right)

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "temperature": self.temperature,
            "confidence": [round(float(value), 6) for value in self.confidence],
            "right": [bool(value) for value in self.right],
            "measured": self.measured,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """What :meth:`to_dict` gave; a KeyError, TypeError or ValueError for anything else."""
        temperature = float(values["temperature"])
        confidence = np.asarray(values["confidence"], dtype=np.float64)
        right = np.asarray(values["right"], dtype=bool)
        if confidence.ndim != 1 or confidence.shape != right.shape or not COLDEST / 2 < temperature < 2 * HOTTEST:
            raise ValueError("a calibration with a temperature out of range or lists of different lengths")
        return cls(temperature, confidence, right, str(values["measured"]))


def calibrate(model: NodeClassifier, folds: int = FOLDS, watch: FoldWatcher | None = None) -> Calibration:
    """A calibration of a fitted model: on its validation nodes where there are ten or more, otherwise by cross-fitting."""
    graph, split = model.graph_, model.split_
    if len(split.val) >= LEAST:
        logits = model.decision_function()[split.val]
        return Calibration.fit(logits, graph.labels[split.val], f"on {len(split.val):,} validation labels")
    nodes, logits = cross_fit(model, folds, watch)
    if len(nodes) < LEAST:
        return Calibration.fit(logits[:0], np.zeros(0, dtype=np.int64), "not measured: too few labels to hold any out")
    return Calibration.fit(logits, graph.labels[nodes], f"on {len(nodes):,} training labels, cross-fitted")


def cross_fit(
    model: NodeClassifier, folds: int = FOLDS, watch: FoldWatcher | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(m,) training nodes and their (m, K) logits, each from a model that was fitted without that node's label.

    The labels of every class are dealt to the folds in turn. A class with one label keeps it in all of them: without it
    the class would be unknown.
    """
    if folds < 2:
        raise ParameterError(f"Cross-fitting needs 2 folds or more. Got {folds} instead.")
    graph, split = model.graph_, model.split_
    fold = deal(graph.labels[split.train], folds, getattr(model, "random_state", 0))
    used = [number for number in range(folds) if (fold == number).any()]
    nodes, logits = [], []
    for place, number in enumerate(used, start=1):
        held = split.train[fold == number]
        kept = replace(split, train=split.train[fold != number], test=held)
        one = clone(model)
        one.fit(graph, kept, watch=None if watch is None else _watcher(watch, place, len(used)))
        nodes.append(held)
        logits.append(one.decision_function()[held])
    if not nodes:
        return np.zeros(0, dtype=np.int64), np.zeros((0, graph.num_classes))
    return np.concatenate(nodes), np.concatenate(logits)


def deal(labels: np.ndarray, folds: int, seed: int | None = 0) -> np.ndarray:
    """(m,) the fold of every label, 0 to folds − 1, each class shuffled and dealt in turn; -1 for a class with one label.

    >>> deal(np.array([0, 0, 0, 0, 1]), 2).tolist()[-1], sorted(deal(np.array([0, 0, 0, 0, 1]), 2).tolist()[:4])
    (-1, [0, 0, 1, 1])
    """
    generator = np.random.default_rng(seed)
    fold = np.full(len(labels), -1)
    turn = 0  # goes on from class to class, so that folds are of equal size though classes are small
    for k in np.unique(labels):
        members = generator.permutation(np.flatnonzero(labels == k))
        if len(members) > 1:
            fold[members] = (turn + np.arange(len(members))) % folds
            turn += len(members)
    return fold


def _negative_log_likelihood(logits: np.ndarray, labels: np.ndarray) -> float:
    return float(-log_softmax(np.asarray(logits, dtype=np.float64), axis=1)[np.arange(len(labels)), labels].sum())


def _watcher(watch: FoldWatcher, number: int, folds: int) -> Callable[[int, dict[str, float]], None]:
    return lambda epoch, quantities: watch(number, folds, epoch, quantities)
