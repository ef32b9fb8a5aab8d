"""Transductive: what every method that labels the nodes of one graph, and of no other, has in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.metrics import labelled_accuracy


class Transductive(BaseEstimator):
    """A method with one hook: :meth:`_spread` gives class scores to all nodes from the labels of the training nodes.

    Fitted attributes:
        classes_: (K,) class names. transduction_: (n,) a label for every node, the given ones where given.
    """

    def _spread(self, graph: Graph, labels: np.ndarray) -> np.ndarray:
        """(n, K) scores, not negative, from (n,) class indices that are -1 but on the training nodes."""
        raise NotImplementedError

    def fit(self, graph: Graph, split: Split | None = None) -> Any:
        """Label every node from those of ``split.train`` (default: all labelled nodes)."""
        graph.validate()
        split = (Split.from_labels(graph) if split is None else split).validate(graph)
        labels = split.training_labels(graph)
        scores = self._spread(graph, labels)
        sums = scores.sum(axis=1, keepdims=True)
        # a node that no label reaches says nothing of its own: it gets the shares of the training classes
        shares = np.bincount(labels[split.train], minlength=graph.num_classes) / len(split.train)
        self._probabilities = np.where(sums > 0, scores / np.where(sums > 0, sums, 1), shares)
        self.classes_ = graph.classes
        self.graph_, self.split_ = graph, split
        self.transduction_ = self.classes_[np.where(labels >= 0, labels, self._probabilities.argmax(axis=1))]
        return self

    def predict(self) -> np.ndarray:
        """(n,) the most probable class of every node."""
        best = self.predict_proba().argmax(axis=1)
        predicted: np.ndarray = self.classes_[best]
        return predicted

    def predict_proba(self) -> np.ndarray:
        """(n, K) probabilities, columns in the order of ``classes_``."""
        if not hasattr(self, "_probabilities"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit(graph, split) first.")
        return self._probabilities

    def fit_predict(self, graph: Graph, split: Split | None = None) -> np.ndarray:
        """:meth:`fit`, then a label for every node, the given ones where given."""
        labels: np.ndarray = self.fit(graph, split).transduction_
        return labels

    def score(self, nodes: np.ndarray | None = None) -> float:
        """Accuracy on ``nodes`` (default: the test nodes of the split)."""
        predicted = self.predict_proba().argmax(axis=1)
        return labelled_accuracy(predicted, self.graph_.labels, self.split_.test if nodes is None else nodes)
