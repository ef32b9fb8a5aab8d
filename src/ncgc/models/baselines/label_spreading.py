"""Label spreading: labels diffuse along the edges, and no features are used (Zhou et al., NIPS 2004)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ncgc.graph import Graph
from ncgc.models.base import TransductiveClassifier
from ncgc.params.parameter import declared


class LabelSpreading(TransductiveClassifier):
    """F ← α·S·F + (1−α)·Y with S = D^-½ A D^-½ (no self-loops), which tends to (1−α)(I−αS)⁻¹ Y.

    Fitted attributes: those of :class:`NodeClassifier`, and n_iter_, the steps made.

    >>> graph = Graph.from_edges([[0, 1], [1, 2], [3, 4]], np.eye(5), labels=[0, -1, -1, 1, -1])
    >>> LabelSpreading().fit_predict(graph)
    array([0, 0, 0, 1, 1])
    """

    title = "Label spreading"
    paper = "Zhou et al., NIPS 2004"
    cost = "a product of S and an n×K matrix a step"

    alpha: float = declared(0.9, "share that comes from the neighbours", low=0, high=1, open_high=True)
    iterations: int = declared(1000, "most steps", low=1)
    tolerance: float = declared(1e-6, "largest change of a score to stop at", low=0)

    def _spread(self, graph: Graph, labels: np.ndarray) -> np.ndarray:
        known = np.flatnonzero(labels >= 0)
        start = np.zeros((graph.num_nodes, graph.num_classes))
        start[known, labels[known]] = 1 - self.alpha
        step = self.alpha * symmetric_normalised(graph.adjacency)
        scores = start
        self.n_iter_, moved = 0, np.inf
        while self.n_iter_ < self.iterations and moved > self.tolerance:
            latest = step @ scores + start
            moved = float(np.abs(latest - scores).max())
            scores = latest
            self.n_iter_ += 1
        return scores


def symmetric_normalised(adjacency: sparse.csr_array) -> sparse.csr_array:
    """S = D^-½ A D^-½ in float64; the rows of isolated nodes stay zero.

    Args:
        adjacency: A, n×n, symmetric, without self-loops.

    Returns:
        S, n×n.

    >>> symmetric_normalised(sparse.csr_array([[0.0, 4.0], [4.0, 0.0]])).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    adjacency = adjacency.astype(np.float64)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    diagonal = sparse.dia_array((scale[None, :], [0]), shape=adjacency.shape)
    return sparse.csr_array(diagonal @ adjacency @ diagonal)
