"""Features of the structure: eigenvectors indeed, of any graph, the same every time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ncgc import Graph
from ncgc.errors import ParameterError
from ncgc.io import spectral_features
from ncgc.io.tables import spectral


def normalised(adjacency):
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    root = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree, dtype=float), where=degree > 0)
    return adjacency.toarray() * root[:, None] * root


def blocks(sizes, seed=0, inside=0.3, across=0.01):
    generator = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(block[:, None] == block, inside, across)
    pairs = np.argwhere(np.triu(generator.random(chance.shape) < chance, 1))
    return Graph.from_edges(pairs, np.ones((len(block), 1))).adjacency, block


@pytest.mark.parametrize("exact", [True, False])
def test_they_are_the_leading_eigenvectors(monkeypatch, exact):
    adjacency, _ = blocks([40, 50, 60, 70])
    monkeypatch.setattr(spectral, "DENSE_UP_TO", 1000 if exact else 10)
    features = spectral_features(adjacency, dimensions=3)
    values, vectors = np.linalg.eigh(normalised(adjacency))
    expected = vectors[:, [-2, -3, -4]] * np.sqrt(220)  # without that of eigenvalue 1
    expected *= np.sign(expected[np.abs(expected).argmax(axis=0), range(3)])
    np.testing.assert_allclose(features[:, :3], expected, atol=1e-3)
    assert values[-1] == pytest.approx(1)


@pytest.mark.parametrize("exact", [True, False])
def test_small_components_do_not_hide_the_large_one(monkeypatch, exact):
    large, block = blocks([60, 60], across=0.02)
    pairs = sparse.block_diag([sparse.csr_array([[0, 1], [1, 0]])] * 40)
    adjacency = sparse.csr_array(sparse.block_diag([large, pairs, sparse.csr_array((5, 5))]))
    monkeypatch.setattr(spectral, "DENSE_UP_TO", 1000 if exact else 10)
    features = spectral_features(adjacency, dimensions=8)
    assert features.shape == (205, 10)
    of_components, rest = features[:, :2], features[:, 2:8]
    assert [np.flatnonzero(column).tolist() for column in of_components.T] == [list(range(120)), [120, 121]]
    agreement = ((rest[:120, 0] > 0) == (block == 1)).mean()
    assert max(agreement, 1 - agreement) > 0.95
    np.testing.assert_array_equal(features[-5:, :8], 0)  # isolated nodes lie nowhere


def test_clusters_alike_are_all_found():
    adjacency, block = blocks([50] * 12, inside=0.4, across=0.005)
    features = spectral_features(adjacency, dimensions=24)[:, :11].astype(float)
    # within the 11 leading vectors, nodes of one block lie together and blocks lie apart
    centres = np.stack([features[block == b].mean(axis=0) for b in range(12)])
    nearest = ((features[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == block).mean() > 0.99


def test_the_same_every_time():
    adjacency, _ = blocks([300, 300], inside=0.05)
    one = spectral_features(adjacency, seed=3)
    np.testing.assert_array_equal(one, spectral_features(adjacency, seed=3))
    assert one.dtype == np.float32
    leading = np.abs(one[:, 0]).argmax()
    assert one[leading, 0] > 0


def test_weights_count():
    ring = sparse.csr_array(np.roll(np.eye(8), 1, axis=0) + np.roll(np.eye(8), -1, axis=0))
    heavy = ring.copy()
    heavy[0, 1] = heavy[1, 0] = 50
    assert np.abs(spectral_features(ring, 2)[:, :2] - spectral_features(heavy, 2)[:, :2]).max() > 0.1


@st.composite
def small_graphs(draw):
    n = draw(st.integers(1, 30))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=60))
    return Graph.from_edges(edges, np.ones((n, 1))).adjacency


@settings(deadline=None)
@given(small_graphs(), st.integers(1, 70), st.booleans())
def test_any_graph(adjacency, dimensions, exact):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectral, "DENSE_UP_TO", 100 if exact else 8)
        features = spectral_features(adjacency, dimensions)
    assert features.shape[0] == adjacency.shape[0]
    assert 2 <= features.shape[1] <= dimensions + 2
    assert np.isfinite(features).all()
    vectors = features[:, :-2] / np.sqrt(adjacency.shape[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-3)
    np.testing.assert_allclose(vectors[np.diff(adjacency.indptr) == 0], 0, atol=1e-4)


def test_degrees_are_the_last_two_columns():
    star = Graph.from_edges([[0, i] for i in range(1, 7)], np.ones((8, 1))).adjacency  # node 7 is alone
    own, beside = spectral_features(star, 2)[:, -2:].T
    assert own.argmax() == 0
    assert own.argmin() == 7
    assert beside[1] == beside.max() == beside[6]
    np.testing.assert_allclose([own.mean(), own.std(), beside.std()], [0, 1, 1], atol=1e-6)


def test_dimensions_are_checked():
    with pytest.raises(ParameterError, match=r"'dimensions' of spectral features must be at least 1. Got 0"):
        spectral_features(sparse.csr_array((3, 3)), 0)


def test_weights_of_any_size():
    pairs, weights = [[0, 1], [1, 2], [2, 3], [3, 0]], [3e38, 3e38, 1e-38, 1]
    adjacency = Graph.from_edges(pairs, np.ones((4, 1)), weights=weights).adjacency
    assert np.isfinite(spectral_features(adjacency, 3)).all()
