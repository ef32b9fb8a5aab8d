"""Spectral clustering: the graph is cut without labels, and the labels only name the parts."""

from __future__ import annotations

from inspect import signature

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.models.base import FitOptions, NodeClassifier, Prediction
from ncgc.params.parameter import declared

_DENSE = 400  # up to so many nodes all eigenvectors are found at once, which nothing can hinder


class SpectralClustering(NodeClassifier):
    """k-means on the rows of the leading eigenvectors of D_τ^-½ (A + (τ/n)·11ᵀ) D_τ^-½ with D_τ = D + τI.

    τ (times the mean degree) ties small components to the rest: without it the leading eigenvectors of a disconnected graph
    only tell its smallest components (Amini et al., 2013). The rows are brought to length 1 (Ng et al., 2002). A cluster c
    gives its nodes p_k = (l_ck + s·π_k) / (l_c + s), from the l_c training labels in it and the shares π of all.

    Nothing is drawn: the eigenvectors' start and k-means' are fixed. Features are not used. transform() gives the rows.

    >>> graph = Graph.from_edges([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3]], np.eye(6), [0, -1, -1, 1, -1, -1])
    >>> SpectralClustering().fit_predict(graph)
    array([0, 0, 0, 1, 1, 1])
    """

    title = "Spectral clustering"
    paper = "Ng et al., NIPS 2002; regularised as in Amini et al., 2013"
    family = "no learning"
    deterministic = True
    cost = "a few hundred products of A and a vector"

    clusters: int | None = declared(None, "number of clusters; none: of classes", kind=int, low=1, optional=True)
    regularisation: float = declared(1.0, "τ in mean degrees", low=0, open_low=True)
    smoothing: float = declared(1.0, "labels that the class shares count for in each cluster (s)", low=0, open_low=True)

    def _solve(self, graph: Graph, split: Split, options: FitOptions) -> Prediction:
        count = min(graph.num_classes if self.clusters is None else self.clusters, graph.num_nodes)
        embeddings = spectral_embeddings(graph.adjacency, count, self.regularisation)
        self._assigned = KMeans(count, n_init=20, random_state=0).fit_predict(embeddings)
        votes = np.zeros((count, graph.num_classes))
        np.add.at(votes, (self._assigned[split.train], graph.labels[split.train]), 1.0)
        shares = votes.sum(axis=0) / len(split.train)
        return Prediction.from_scores((votes + self.smoothing * shares)[self._assigned], shares, embeddings=embeddings)

    def _clusters(self, prediction: Prediction) -> np.ndarray:
        return self._assigned


def spectral_embeddings(adjacency: sparse.csr_array, dimensions: int, regularisation: float = 1.0) -> np.ndarray:
    """Leading eigenvectors of the regularised, normalised adjacency, each row scaled to length 1.

    Args:
        adjacency: A, n×n, symmetric.
        dimensions: number of eigenvectors.
        regularisation: τ as a multiple of the mean degree; τ/n is added to every entry of A.

    Returns:
        (n, dimensions).

    >>> spectral_embeddings(sparse.csr_array([[0.0, 2.0], [2.0, 0.0]]), 1)
    array([[1.],
           [1.]])
    """
    adjacency = sparse.csr_array(adjacency).astype(np.float64)
    n = adjacency.shape[0]
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    tau = regularisation * (degrees.mean() or 1.0)
    scale = 1.0 / np.sqrt(degrees + tau)
    near = sparse.dia_array((scale[None, :], [0]), shape=(n, n)) @ adjacency
    near = sparse.csr_array(near @ sparse.dia_array((scale[None, :], [0]), shape=(n, n)))
    far = scale * np.sqrt(tau / n)
    if n <= max(_DENSE, 2 * dimensions):
        vectors = np.linalg.eigh(near.toarray() + np.outer(far, far))[1][:, ::-1][:, :dimensions]
    else:
        step = LinearOperator((n, n), matvec=lambda v: near @ v + far * (far @ v), dtype=np.float64)
        start = np.random.default_rng(0).normal(size=n)
        again = {"rng": 0} if "rng" in signature(eigsh).parameters else {}  # newer versions draw anew for a restart
        values, vectors = eigsh(step, k=dimensions, which="LA", v0=start, **again)
        vectors = vectors[:, np.argsort(-values)]
    vectors = vectors * np.where(vectors.sum(axis=0) < 0, -1.0, 1.0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: np.ndarray = vectors / np.where(lengths > 0, lengths, 1.0)
    return rows
