"""The propagation matrices against their dense formulas and PyG's own."""

import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ncgc.ops import gcn_normalised, mean_normalised, with_self_loops


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def adjacency(request, random_sparse):
    """Symmetric, no self-loops, node 2 isolated."""
    return random_sparse(12, 12, seed=5, symmetric=True, weighted=request.param)


def test_with_self_loops_is_a_plus_i(adjacency):
    result = with_self_loops(adjacency)
    np.testing.assert_array_equal(result.toarray(), adjacency.toarray() + np.eye(12))
    assert result.has_sorted_indices


def test_gcn_is_the_dense_formula(adjacency):
    looped = adjacency.toarray() + np.eye(12)
    root = np.diag(looped.sum(axis=1) ** -0.5)
    result = gcn_normalised(adjacency).toarray()
    np.testing.assert_allclose(result, root @ looped @ root, rtol=1e-12)
    np.testing.assert_allclose(result, result.T, rtol=1e-12)
    assert result[2, 2] == 1.0  # isolated: keeps what it has
    spectrum = np.linalg.eigvalsh(result)
    assert spectrum.max() == pytest.approx(1.0)
    assert spectrum.min() > -1.0


def test_gcn_is_pygs(adjacency):
    coo = adjacency.tocoo()
    index = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
    edges, weights = gcn_norm(index, torch.from_numpy(coo.data), 12, dtype=torch.float64)
    oracle = np.zeros((12, 12))
    np.add.at(oracle, (edges[1].numpy(), edges[0].numpy()), weights.numpy())
    np.testing.assert_allclose(gcn_normalised(adjacency).toarray(), oracle, rtol=1e-12)


def test_mean_is_the_dense_formula(adjacency):
    dense = adjacency.toarray()
    sums = dense.sum(axis=1)
    expected = np.array([dense[i] / sums[i] if sums[i] else np.zeros(12) for i in range(12)])
    result = mean_normalised(adjacency)
    np.testing.assert_allclose(result.toarray(), expected, rtol=1e-12)
    rows = result.toarray().sum(axis=1)
    assert rows[2] == 0
    np.testing.assert_allclose(np.delete(rows, 2), 1.0)


@pytest.mark.parametrize("function", [with_self_loops, gcn_normalised, mean_normalised])
def test_the_input_is_not_changed(adjacency, function):
    before = adjacency.copy()
    function(adjacency)
    np.testing.assert_array_equal(adjacency.toarray(), before.toarray())
    assert adjacency.nnz == before.nnz


@pytest.mark.parametrize("function", [with_self_loops, gcn_normalised, mean_normalised])
def test_float32_stays_float32(adjacency, function):
    assert function(adjacency.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("nodes", [1, 4])
def test_a_graph_without_edges(nodes):
    empty = sparse.csr_array((nodes, nodes), dtype=np.float32)
    np.testing.assert_array_equal(gcn_normalised(empty).toarray(), np.eye(nodes))
    assert mean_normalised(empty).nnz == 0
