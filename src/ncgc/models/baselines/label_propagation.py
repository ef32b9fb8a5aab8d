"""Label propagation: every node is the mean of its neighbours, and no features are used."""

from __future__ import annotations

import numpy as np

from ncgc.graph import Graph
from ncgc.models.base import TransductiveClassifier
from ncgc.ops import mean_normalised
from ncgc.params.parameter import declared


class LabelPropagation(TransductiveClassifier):
    """F ← D⁻¹A·F with F_i = y_i put back on the training nodes after each step (Zhu and Ghahramani, 2002).

    Tends to the harmonic function: F_ik is the chance that a random walk from i meets a training node of class k first.
    Far from all labels these chances are the same everywhere, and one class would take all nodes; class mass
    normalisation, the authors' remedy, divides a class by what it has in sum and multiplies it by its share of the
    training nodes.

    Fitted attributes: those of :class:`NodeClassifier`, and n_iter_, the steps made.

    >>> graph = Graph.from_edges([[0, 1], [1, 2], [2, 3], [3, 4]], np.eye(5), labels=[0, -1, -1, -1, 1])
    >>> LabelPropagation().fit(graph).predict_proba()[:4, 0].round(3)
    array([1.  , 0.75, 0.5 , 0.25])
    """

    title = "Label propagation"
    paper = "Zhu and Ghahramani, CMU-CALD-02-107, 2002"
    cost = "a product of D⁻¹A and an n×K matrix a step"

    iterations: int = declared(1000, "most steps", low=1)
    tolerance: float = declared(1e-6, "largest change of a score to stop at", low=0)
    balanced: bool = declared(True, "class mass normalisation")

    def _spread(self, graph: Graph, labels: np.ndarray) -> np.ndarray:
        known = np.flatnonzero(labels >= 0)
        given = np.eye(graph.num_classes)[labels[known]]
        walk = mean_normalised(graph.adjacency.astype(np.float64))
        scores = np.zeros((graph.num_nodes, graph.num_classes))
        scores[known] = given
        self.n_iter_, moved = 0, np.inf
        while self.n_iter_ < self.iterations and moved > self.tolerance:
            latest = walk @ scores
            latest[known] = given
            moved = float(np.abs(latest - scores).max())
            scores = latest
            self.n_iter_ += 1
        if self.balanced:
            free = labels < 0
            mass = scores[free].sum(axis=0)
            scores[free] *= given.mean(axis=0) / np.where(mass > 0, mass, 1.0)
        return scores
