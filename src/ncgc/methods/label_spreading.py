"""Label spreading: labels diffuse along the edges, and no features are used (Zhou et al., NIPS 2004)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ncgc.graph import Graph
from ncgc.methods.transductive import Transductive
from ncgc.parameters import Parameter

_METHOD = "Label spreading"
PARAMETERS = {
    row.name: row
    for row in (
        Parameter("alpha", 0.9, float, "share that comes from the neighbours", _METHOD, low=0, high=1, open_high=True),
        Parameter("iterations", 1000, int, "most steps", _METHOD, low=1),
        Parameter("tolerance", 1e-6, float, "largest change of a score to stop at", _METHOD, low=0),
    )
}


class LabelSpreading(Transductive):
    """F ← α·S·F + (1−α)·Y with S = D^-½ A D^-½ (no self-loops), which tends to (1−α)(I−αS)⁻¹ Y.

    Args:
        alpha: α, the share of a node's scores that comes from its neighbours.
        iterations, tolerance: stop when no score moves by more than ``tolerance``, or after so many steps.

    Fitted attributes: those of :class:`Transductive`, and n_iter_, the steps made.

    >>> graph = Graph.from_edges([[0, 1], [1, 2], [3, 4]], np.eye(5), labels=[0, -1, -1, 1, -1])
    >>> LabelSpreading().fit_predict(graph)
    array([0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        alpha: float = PARAMETERS["alpha"].default,
        *,
        iterations: int = PARAMETERS["iterations"].default,
        tolerance: float = PARAMETERS["tolerance"].default,
    ):
        self.alpha = alpha
        self.iterations = iterations
        self.tolerance = tolerance

    def _spread(self, graph: Graph, labels: np.ndarray) -> np.ndarray:
        for name, parameter in PARAMETERS.items():
            parameter.check(getattr(self, name), type(self).__name__)
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

    >>> symmetric_normalised(sparse.csr_array([[0.0, 4.0], [4.0, 0.0]])).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    adjacency = adjacency.astype(np.float64)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    diagonal = sparse.dia_array((scale[None, :], [0]), shape=adjacency.shape)
    return sparse.csr_array(diagonal @ adjacency @ diagonal)
