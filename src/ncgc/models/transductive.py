"""Transductive: what every method that spreads the given labels over one graph, and learns nothing, has in common."""

from __future__ import annotations

import numpy as np

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.models.base import Method, Solution
from ncgc.training import Watcher


class Transductive(Method):
    """A method with one hook: :meth:`_spread` gives class scores to all nodes from the labels of the training nodes.

    A node that no label reaches says nothing of its own: it gets the shares of the training classes.
    """

    family = "no learning"

    def _spread(self, graph: Graph, labels: np.ndarray) -> np.ndarray:
        """(n, K) scores, not negative, from (n,) class indices that are -1 but on the training nodes."""
        raise TypeError(f"{type(self).__name__} must define _spread(graph, labels).")

    def _solve(self, graph: Graph, split: Split, watch: Watcher | None) -> Solution:
        labels = split.training_labels(graph)
        shares = np.bincount(labels[split.train], minlength=graph.num_classes) / len(split.train)
        return Solution.from_scores(self._spread(graph, labels), shares)
