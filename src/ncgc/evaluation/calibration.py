"""Calibrated confidence: a temperature for the logits, and the confidence that gives a wanted accuracy.

Both are learnt from nodes whose labels the model was not trained on: validation nodes where there are some, otherwise the
training nodes, each predicted by a model that was fitted without its label (cross-fitting).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import clone

from ncgc.datasets import Split
from ncgc.errors import ParameterError
from ncgc.evaluation.metrics import calibration_error
from ncgc.graph import Graph

FOLDS = 5
LEAST = 10  # fewest nodes that a temperature or a threshold is learnt from
COLDEST, HOTTEST = 0.05, 20.0  # range of temperatures
SPREAD = 0.4  # prior standard deviation of ln T: two thirds of all models need a temperature from 0.67 to 1.5

# called after each epoch of a fold: number of the fold (from 1), number of folds, epoch, quantities of the epoch
FoldWatcher = Callable[[int, int, int, dict[str, float]], None]


class FittedClassifier(Protocol):
    """What calibration needs of a fitted classifier; scikit-learn's ``clone`` must make an unfitted copy of it."""

    @property
    def random_state(self) -> int | None:
        """Seed of the fit."""

    @property
    def graph_(self) -> Graph:
        """The graph it was fitted on."""

    @property
    def split_(self) -> Split:
        """The split it was fitted with."""

    def decision_function(self) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class Calibration:
    """p = softmax(logits / T), and the confidence and correctness of the nodes T was learnt from.

    Attributes:
        temperature: T; above 1 lowers confidence, below 1 raises it.
        confidence: (m,) calibrated confidence of these nodes, in descending order.
        right: (m,) whether their predicted label was correct.
        measured: which nodes, in words.

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
        """Learn the temperature from nodes that the model was not trained on.

        T minimises Σ −log p(label) + ½·(ln T / 0.4)²: the negative log-likelihood of the labels, and a prior that T is
        near 1. A hundred labels outweigh the prior. Where the few labels were all predicted correctly, the likelihood
        alone would give the lowest T allowed; the prior keeps confidence below certainty. With fewer than ten nodes T
        stays 1.

        Args:
            logits: (m, K).
            labels: (m,) classes, 0 to K−1.
            measured: which nodes these are, in words.

        Returns:
            The temperature, with confidence and correctness of the m nodes.
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
        """Calibrated probabilities softmax(logits/T).

        Args:
            logits: (n, K).

        Returns:
            (n, K) float64.
        """
        calibrated: np.ndarray = softmax(np.asarray(logits, dtype=np.float64) / self.temperature, axis=1)
        return calibrated

    def threshold(self, accuracy: float) -> float:
        """The lowest confidence c such that the nodes with confidence ≥ c reach an accuracy.

        Args:
            accuracy: wanted, between 0 and 1.

        Returns:
            c, by the nodes that the temperature was learnt from: 0 where all of them together are accurate enough, infinite
            where no ten of them are, so that no node passes.

        Raises:
            ParameterError: for an accuracy out of range.

        >>> calibration = Calibration(1.0, np.linspace(0.99, 0.5, 20), np.arange(20) < 12, "")
        >>> round(calibration.threshold(0.95), 2), calibration.threshold(0.5)
        (0.71, 0.0)
        """
        if not 0 < accuracy < 1:
            raise ParameterError(f"The accuracy to abstain by must be between 0 and 1. Got {accuracy} instead.")
        if len(self.right) < LEAST:
            return float("inf")
        counts = np.arange(1, len(self.right) + 1)
        accuracies = np.cumsum(self.right) / counts  # of the most confident 1, 2, 3, ... nodes
        ends = np.append(
            self.confidence[:-1] > self.confidence[1:], True
        )  # nodes of equal confidence pass together or not at all
        enough = np.flatnonzero((accuracies >= accuracy) & (counts >= LEAST) & ends)
        if not len(enough):
            return float("inf")
        last = int(enough[-1])
        return 0.0 if last == len(accuracies) - 1 else float(self.confidence[last])

    @property
    def error(self) -> float:
        """The expected calibration error on the nodes the temperature was learnt from; NaN without nodes."""
        return calibration_error(self.confidence, self.right)

    def to_dict(self) -> dict[str, Any]:
        """The calibration as JSON values."""
        return {
            "temperature": self.temperature,
            "confidence": [round(float(value), 6) for value in self.confidence],
            "right": [bool(value) for value in self.right],
            "measured": self.measured,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """The calibration that :meth:`to_dict` was called on.

        Raises:
            KeyError, TypeError, ValueError: for anything else.
        """
        temperature = float(values["temperature"])
        confidence = np.asarray(values["confidence"], dtype=np.float64)
        right = np.asarray(values["right"], dtype=bool)
        if confidence.ndim != 1 or confidence.shape != right.shape or not COLDEST / 2 < temperature < 2 * HOTTEST:
            raise ValueError("a calibration with a temperature out of range or lists of different lengths")
        return cls(temperature, confidence, right, str(values["measured"]))


def calibrate(model: FittedClassifier, folds: int = FOLDS, watch: FoldWatcher | None = None) -> Calibration:
    """Calibrate a fitted model on its validation nodes where there are ten or more, otherwise by cross-fitting.

    Args:
        model: fitted; it is not changed.
        folds: number of folds of cross-fitting, at least 2.
        watch: called after each epoch of cross-fitting.

    Returns:
        The calibration; its temperature is 1 where fewer than ten labels can be held out.
    """
    graph, split = model.graph_, model.split_
    if len(split.val) >= LEAST:
        logits = model.decision_function()[split.val]
        return Calibration.fit(logits, graph.labels[split.val], f"on {len(split.val):,} validation labels")
    nodes, logits = cross_fit(model, folds, watch)
    if len(nodes) < LEAST:
        return Calibration.fit(logits[:0], np.zeros(0, dtype=np.int64), "not measured: too few labels to hold any out")
    return Calibration.fit(logits, graph.labels[nodes], f"on {len(nodes):,} training labels, cross-fitted")


def cross_fit(
    model: FittedClassifier, folds: int = FOLDS, watch: FoldWatcher | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Predict training nodes, each by a model that was fitted without that node's label.

    A class with one label keeps it in all folds: without it the class would be unknown.

    Args:
        model: fitted; it is not changed.
        folds: number of folds, at least 2.
        watch: called after each epoch of each fold.

    Returns:
        (m,) training nodes and their (m, K) logits.

    Raises:
        ParameterError: for fewer than 2 folds.
    """
    if folds < 2:
        raise ParameterError(f"Cross-fitting needs 2 folds or more. Got {folds} instead.")
    graph, split = model.graph_, model.split_
    fold = assign_folds(graph.labels[split.train], folds, model.random_state)
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


def assign_folds(labels: np.ndarray, folds: int, seed: int | None = 0) -> np.ndarray:
    """Stratified folds: the labels of each class are shuffled and assigned to the folds in turn.

    Args:
        labels: (m,) classes.
        folds: number of folds.
        seed: of the shuffling.

    Returns:
        (m,) fold of every label, 0 to folds − 1; -1 for the label of a class that has only one.

    >>> assign_folds(np.array([0, 0, 0, 0, 1]), 2).tolist()[-1], sorted(assign_folds(np.array([0, 0, 0, 0, 1]), 2).tolist()[:4])
    (-1, [0, 0, 1, 1])
    """
    generator = np.random.default_rng(seed)
    fold = np.full(len(labels), -1)
    turn = 0  # continues from class to class, so that folds are of equal size even if classes are small
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
