"""Method: the contract of everything that labels the rest of a graph from a few labels."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from ncgc.datasets import Split
from ncgc.errors import GraphError
from ncgc.evaluation.calibration import FOLDS, Calibration, FoldWatcher, calibrate
from ncgc.evaluation.metrics import labelled_accuracy
from ncgc.graph import Graph
from ncgc.graph.validation import check_is_graph, check_same_features, labels_among
from ncgc.params.declared import Declared
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
        calibration_: None, or what :meth:`calibrate` learnt. extra_: what a model file carries along, else empty.
    """

    title: ClassVar[str]
    paper: ClassVar[str]
    family: ClassVar[str]
    cost: ClassVar[str]
    inductive: ClassVar[bool] = False  # whether it can label the nodes of a graph that it was not fitted on
    random_state: int | None  # of those that draw

    def _solve(self, graph: Graph, split: Split, watch: Watcher | None) -> Solution:
        """Label all nodes. Training may look at the labels of ``split.train`` alone, the choice of an epoch at ``split.val``."""
        raise TypeError(f"{type(self).__name__} must define _solve(graph, split, watch).")

    def _elsewhere(self, graph: Graph) -> Solution:
        """Label the nodes of another graph with the same features; of a method that is :attr:`inductive`."""
        raise TypeError(f"{type(self).__name__} must define _elsewhere(graph).")

    def _arrays(self) -> dict[str, np.ndarray]:
        """What a model file must keep of a fit beside the parameters and the scaling; of a method that is inductive."""
        raise TypeError(f"{type(self).__name__} must define _arrays().")

    def _restore(self, graph: Graph, split: Split, arrays: dict[str, np.ndarray]) -> None:
        """Be as :meth:`_arrays` found it; a ValueError says which array does not fit. ``scaling_`` is set afterwards."""
        raise TypeError(f"{type(self).__name__} must define _restore(graph, split, arrays).")

    def fit(self, graph: Graph, split: Split | None = None, *, watch: Watcher | None = None) -> Any:
        """Label every node from those of ``split.train`` (default: all labelled nodes).

        Args:
            watch: called after each epoch with its number and quantities, for a progress bar.
        """
        self.check()
        check_is_graph(graph)
        graph.validate()
        split = (Split.from_labels(graph) if split is None else split).validate(graph)
        start = time.perf_counter()
        solution = self._solve(graph, split, watch)
        self.seconds_ = time.perf_counter() - start
        self.calibration_: Calibration | None = None
        self.extra_: dict[str, Any] = {}
        self._take(graph, split, solution)
        return self

    def _take(self, graph: Graph, split: Split, solution: Solution) -> None:
        """Set what is known of the fitted graph: after fitting, and after loading."""
        self._solution = solution
        self.classes_, self.graph_, self.split_ = graph.classes, graph, split
        self.n_features_in_ = graph.num_features
        self.history_, self.best_epoch_ = solution.history, solution.best_epoch
        self.termination_ = solution.termination
        labels = split.training_labels(graph)
        self.transduction_ = self.classes_[np.where(labels >= 0, labels, solution.logits.argmax(axis=1))]

    # ---------------------------------------------------------------- keeping

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted method, and the graph it was fitted on, to a folder that :meth:`load` reads; nothing is pickled."""
        from ncgc.io.model_file.model_file import save_model

        save_model(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Any:
        """What :meth:`save` wrote; it predicts what the saved one did, to the bit."""
        from ncgc.io.model_file.model_file import load_model_of

        return load_model_of(cls, path)

    # ---------------------------------------------------------------- using

    def decision_function(self, graph: Graph | None = None) -> np.ndarray:
        """(n, K) scores whose softmax is the uncalibrated probabilities, columns in the order of ``classes_``.

        Of the nodes of the fitted graph, or of another graph with the same features.
        """
        return self._answer(graph).logits

    def predict_proba(self, graph: Graph | None = None) -> np.ndarray:
        """(n, K) probabilities, columns in the order of ``classes_``; calibrated after :meth:`calibrate`."""
        calibration = getattr(self, "calibration_", None) or Calibration(1.0, np.zeros(0), np.zeros(0, dtype=bool), "")
        return calibration.probabilities(self.decision_function(graph))

    def predict(self, graph: Graph | None = None) -> np.ndarray:
        """(n,) the most probable class of every node."""
        best = self.decision_function(graph).argmax(axis=1)
        predicted: np.ndarray = self.classes_[best]
        return predicted

    def transform(self, graph: Graph | None = None) -> np.ndarray:
        """(n, d) embeddings; a method without any says so."""
        embeddings = self._answer(graph).embeddings
        if embeddings is None:
            raise GraphError(f"{type(self).__name__} gives labels and no embeddings; take predict_proba() instead.")
        return embeddings

    def fit_predict(self, graph: Graph, split: Split | None = None) -> np.ndarray:
        """:meth:`fit`, then a label for every node, the given ones where given."""
        labels: np.ndarray = self.fit(graph, split).transduction_
        return labels

    def score(self, graph: Graph | None = None, nodes: np.ndarray | None = None) -> float:
        """Accuracy on ``nodes`` (default: the test nodes of the split; of another graph, all labelled nodes)."""
        predicted = self.decision_function(graph).argmax(axis=1)
        truth = self.graph_.labels if graph is None else labels_among(graph, self.classes_)
        if nodes is None:
            nodes = self.split_.test if graph is None else np.flatnonzero(truth >= 0)
        return labelled_accuracy(predicted, truth, nodes)

    def calibrate(self, folds: int = FOLDS, watch: FoldWatcher | None = None) -> Any:
        """Make :meth:`predict_proba` mean what it says, by the validation labels or by cross-fitting the training labels."""
        self.decision_function()
        self.calibration_ = calibrate(self, folds, watch)
        return self

    def _answer(self, graph: Graph | None) -> Solution:
        if not hasattr(self, "_solution"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit(graph, split) first.")
        if graph is None:
            return self._solution
        check_is_graph(graph)
        if not self.inductive:
            raise GraphError(
                f"{type(self).__name__} labels the nodes of the graph that it is fitted on and no others; fit it on a graph "
                "with the new nodes in it."
            )
        check_same_features(graph, self.n_features_in_)
        return self._elsewhere(graph)
