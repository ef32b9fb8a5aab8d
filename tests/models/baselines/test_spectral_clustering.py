"""Spectral clustering against all eigenvectors of the dense matrix, and on graphs that are no single piece."""

import numpy as np
import pytest
from scipy import sparse

from ncgc import Graph, Split
from ncgc.models.baselines.spectral_clustering import spectral_embeddings
from ncgc.models.registry import find_classifier

SpectralClustering = find_classifier("spectral_clustering")


def blocks(n: int, inside: float, between: float, seed: int = 0) -> Graph:
    generator = np.random.default_rng(seed)
    block = np.arange(n) % 3
    chance = np.where(block[:, None] == block, inside, between)
    edges = np.argwhere(np.triu(generator.random((n, n)) < chance, 1))
    return Graph.from_edges(edges, np.ones((n, 1)), block, weights=generator.uniform(0.5, 2, len(edges)))


@pytest.mark.parametrize("n", [60, 450])  # all eigenvectors at once, and the leading ones alone
def test_embeddings_span_the_leading_eigenvectors(n):
    adjacency = blocks(n, 0.2, 0.02).adjacency
    dense = adjacency.toarray().astype(float)
    degrees = dense.sum(axis=1)
    tau = degrees.mean()
    scale = 1 / np.sqrt(degrees + tau)
    vectors = np.linalg.eigh(scale[:, None] * (dense + tau / n) * scale)[1][:, -3:]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = spectral_embeddings(adjacency, 3)
    np.testing.assert_allclose(rows @ rows.T, vectors @ vectors.T, atol=1e-6)  # up to a sign a column


def test_finds_planted_blocks_and_the_start_is_fixed():
    graph = blocks(450, 0.1, 0.005)
    split = Split([0, 1, 2], [], np.arange(3, 450))
    model = SpectralClustering().fit(graph, split)
    assert model.score() > 0.98
    np.testing.assert_array_equal(SpectralClustering().fit(graph, split).transform(), model.transform())


def test_clusters_are_named_by_the_labels_in_them():
    graph = blocks(60, 0.4, 0.01)
    split = Split([0, 1, 2, 3, 6], [], np.arange(10, 60))  # three labels of the first block, one of each other
    model = SpectralClustering(smoothing=0.5).fit(graph, split)
    votes = np.zeros((3, 3))
    for node in split.train:
        votes[model.clusters_[node], graph.labels[node]] += 1
    smooth = votes + 0.5 * np.array([0.6, 0.2, 0.2])
    expected = (smooth / smooth.sum(axis=1, keepdims=True))[model.clusters_]
    np.testing.assert_allclose(model.predict_proba(), expected)


def test_a_cluster_without_labels_gets_the_shares_of_all():
    graph = blocks(60, 0.4, 0.01)
    model = SpectralClustering(clusters=12).fit(graph, Split([0, 1, 3], [], []))
    silent = ~np.isin(model.clusters_, model.clusters_[[0, 1, 3]])
    assert silent.any()
    np.testing.assert_allclose(model.predict_proba()[silent], [[2 / 3, 1 / 3, 1e-12]] * silent.sum(), atol=1e-9)


def test_small_components_do_not_take_the_eigenvectors():
    pair = sparse.coo_array(np.array([[0, 1], [1, 0]]))
    adjacency = sparse.block_diag([blocks(300, 0.1, 0.005).adjacency] + [pair] * 80, format="csr")
    labels = np.r_[np.arange(300) % 3, np.zeros(160, dtype=int)]
    graph = Graph.from_scipy(adjacency, np.ones((460, 1)), labels)
    assert SpectralClustering().fit(graph, Split([0, 1, 2, 3, 4, 5], [], np.arange(6, 300))).score() > 0.9


@pytest.mark.parametrize("n", [5, 500])
def test_a_graph_without_edges_says_nothing_but_does_not_fail(n):
    graph = Graph.from_edges([], np.ones((n, 1)), np.arange(n) % 2)
    first, second = (SpectralClustering(clusters=4).fit(graph, Split([0, 1], [], [2])) for _ in range(2))
    np.testing.assert_allclose(first.predict_proba().sum(axis=1), 1)
    np.testing.assert_array_equal(first.predict_proba(), second.predict_proba())
