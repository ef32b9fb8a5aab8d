"""Method: the contract of everything that labels the rest of a graph from a few labels."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from ncgc.calibration import FOLDS, Calibration, FoldWatcher, calibrate
from ncgc.datasets import Split
from ncgc.errors import GraphError
from ncgc.graph import Graph
from ncgc.methods.declared import Declared
from ncgc.metrics import labelled_accuracy
from ncgc.training import History, Watcher

_LEAST = 1e-12  # a probability whose logarithm is still a number to calibrate
FAMILIES = ("no learning", "classic", "deep", "augmentation", "pseudo-labels")


@dataclass(frozen=True, eq=False)
class Solution:
    """What a method found out about all nodes of a graph.

    Attributes:
        logits: (n, K) scores whose softmax is the probabilities.
        embeddings: (n, d), or None where the method has none.
        history, best_epoch, termination: how training went; empty, 0 and "solved" where nothing is trained.
    """

    logits: np.ndarray
    embeddings: np.ndarray | None = None
    history: History = field(default_factory=History)
    best_epoch: int = 0
    termination: str = "solved"

    @classmethod
    def from_scores(cls, scores: np.ndarray, shares: np.ndarray, **rest: Any) -> Solution:
        """From (n, K) scores that are not negative; a row without any says nothing and gets the (K,) ``shares``.

        >>> Solution.from_scores(np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([0.5, 0.5])).logits.round(2)
        array([[-0.29, -1.39],
               [-0.69, -0.69]])
        """
        sums = scores.sum(axis=1, keepdims=True)
        probabilities = np.where(sums > 0, scores / np.where(sums > 0, sums, 1), shares)
        return cls(np.log(np.maximum(probabilities, _LEAST)), **rest)


class Method(Declared):
    """A method with one hook, :meth:`_solve`, and NCGC's manners around it.

    A method says of itself: ``title`` (its name in the field), ``paper``, ``family`` (of :data:`FAMILIES`), and ``cost``,
    what an epoch or the whole takes, in words.

    Fitted attributes:
        classes_: (K,) class names. transduction_: (n,) a label for every node, the given ones where given.
        graph_, split_: what it was fitted on. history_, best_epoch_, termination_, seconds_: how training went.
        calibration_: None, or what :meth:`calibrate` learnt.
    """

    title: ClassVar[str]
    paper: ClassVar[str]
    family: ClassVar[str]
    cost: ClassVar[str]
    random_state: int | None  # of those that draw

    def _solve(self, graph: Graph, split: Split, watch: Watcher | None) -> Solution:
        """Label all nodes. Training may look at the labels of ``split.train`` alone, the choice of an epoch at ``split.val``."""
        raise TypeError(f"{type(self).__name__} must define _solve(graph, split, watch).")

    def fit(self, graph: Graph, split: Split | None = None, *, watch: Watcher | None = None) -> Any:
        """Label every node from those of ``split.train`` (default: all labelled nodes).

        Args:
            watch: called after each epoch with its number and quantities, for a progress bar.
        """
        self.check()
        if not isinstance(graph, Graph):
            raise GraphError(f"The graph must be an ncgc.Graph. Got {type(graph).__name__} instead.")
        graph.validate()
        split = (Split.from_labels(graph) if split is None else split).validate(graph)
        start = time.perf_counter()
        solution = self._solve(graph, split, watch)
        self.seconds_ = time.perf_counter() - start
        self._solution = solution
        self.calibration_: Calibration | None = None
        self.classes_, self.graph_, self.split_ = graph.classes, graph, split
        self.n_features_in_ = graph.num_features
        self.history_, self.best_epoch_ = solution.history, solution.best_epoch
        self.termination_ = solution.termination
        labels = split.training_labels(graph)
        self.transduction_ = self.classes_[np.where(labels >= 0, labels, solution.logits.argmax(axis=1))]
        return self

    # ---------------------------------------------------------------- using

    def decision_function(self) -> np.ndarray:
        """(n, K) scores whose softmax is the uncalibrated probabilities, columns in the order of ``classes_``."""
        if not hasattr(self, "_solution"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit(graph, split) first.")
        return self._solution.logits

    def predict_proba(self) -> np.ndarray:
        """(n, K) probabilities, columns in the order of ``classes_``; calibrated after :meth:`calibrate`."""
        calibration = getattr(self, "calibration_", None) or Calibration(1.0, np.zeros(0), np.zeros(0, dtype=bool), "")
        return calibration.probabilities(self.decision_function())

    def predict(self) -> np.ndarray:
        """(n,) the most probable class of every node."""
        best = self.decision_function().argmax(axis=1)
        predicted: np.ndarray = self.classes_[best]
        return predicted

    def transform(self) -> np.ndarray:
        """(n, d) embeddings; a method without any says so."""
        self.decision_function()
        if self._solution.embeddings is None:
            raise GraphError(f"{type(self).__name__} gives labels and no embeddings; take predict_proba() instead.")
        return self._solution.embeddings

    def fit_predict(self, graph: Graph, split: Split | None = None) -> np.ndarray:
        """:meth:`fit`, then a label for every node, the given ones where given."""
        labels: np.ndarray = self.fit(graph, split).transduction_
        return labels

    def score(self, nodes: np.ndarray | None = None) -> float:
        """Accuracy on ``nodes`` (default: the test nodes of the split)."""
        predicted = self.decision_function().argmax(axis=1)
        return labelled_accuracy(predicted, self.graph_.labels, self.split_.test if nodes is None else nodes)

    def calibrate(self, folds: int = FOLDS, watch: FoldWatcher | None = None) -> Any:
        """Make :meth:`predict_proba` mean what it says, by the validation labels or by cross-fitting the training labels."""
        self.decision_function()
        self.calibration_ = calibrate(self, folds, watch)
        return self
