"""Propagation matrices against their dense formulas and PyG's own; products against dense ones and closed forms."""

import numpy as np
import pytest
import torch
from scipy import sparse
from torch.autograd import gradcheck
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ncgc.ops import gcn_normalised, mean_normalised, personalised_pagerank, propagate, with_self_loops


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


@pytest.mark.parametrize("shape", [(9, 9), (5, 8), (8, 5)])
def test_propagate_is_the_dense_product(random_sparse, to_matrix, normal, dtype, shape):
    source = random_sparse(*shape, seed=1)
    dense = normal(shape[1], 4, dtype=dtype, grad=True)
    oracle = dense.detach().clone().requires_grad_()
    weight = normal(shape[0], 4, seed=9, dtype=dtype)
    result = propagate(to_matrix(source, dtype), dense)
    expected = torch.from_numpy(source.toarray()).to(dtype) @ oracle
    assert result.dtype == dtype
    torch.testing.assert_close(result, expected)
    (result * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(dense.grad, oracle.grad)


@pytest.mark.parametrize("symmetric", [False, True])
def test_propagate_gradcheck(random_sparse, to_matrix, normal, symmetric):
    matrix = to_matrix(random_sparse(seed=2, symmetric=symmetric), symmetric=symmetric)
    assert gradcheck(lambda z: propagate(matrix, z), normal(9, 3, grad=True))


def test_a_false_promise_of_symmetry_is_caught_by_gradcheck(random_sparse, to_matrix, normal):
    """The check can fail: it sees a backward pass with A instead of Aᵀ."""
    matrix = to_matrix(random_sparse(seed=2), symmetric=True)
    assert not gradcheck(lambda z: propagate(matrix, z), normal(9, 3, grad=True), raise_exception=False)


def test_propagate_takes_expanded_gradients_and_strided_input(random_sparse, to_matrix, normal):
    source = random_sparse(seed=3)
    z = normal(4, 9, grad=True)
    propagate(to_matrix(source), z.t()).sum().backward()
    torch.testing.assert_close(z.grad, torch.from_numpy(source.toarray().sum(axis=0)).expand(4, 9))


@pytest.mark.parametrize(("alpha", "steps"), [(0.1, 10), (0.5, 3), (0.0, 2), (1.0, 4), (0.2, 0)])
def test_pagerank_is_the_dense_recursion(random_sparse, to_matrix, normal, dtype, alpha, steps):
    source = gcn_normalised(random_sparse(seed=4, symmetric=True))
    a = torch.from_numpy(source.toarray()).to(dtype)
    z = normal(9, 3, dtype=dtype, grad=True)
    oracle = z.detach().clone().requires_grad_()
    h = oracle
    for _ in range(steps):
        h = (1 - alpha) * (a @ h) + alpha * oracle
    result = personalised_pagerank(to_matrix(source, dtype, symmetric=True), z, alpha, steps)
    torch.testing.assert_close(result, h)
    weight = normal(9, 3, seed=8, dtype=dtype)
    (result * weight).sum().backward()
    (h * weight).sum().backward()
    torch.testing.assert_close(z.grad, oracle.grad)


def test_pagerank_reaches_the_closed_form(random_sparse, to_matrix, normal):
    """α(I − (1−α)Â)⁻¹Z in the limit (Gasteiger et al., eq. 3)."""
    source = gcn_normalised(random_sparse(seed=5, symmetric=True))
    z, alpha = normal(9, 2), 0.2
    a = torch.from_numpy(source.toarray())
    limit = alpha * torch.linalg.solve(torch.eye(9, dtype=torch.float64) - (1 - alpha) * a, z)
    torch.testing.assert_close(personalised_pagerank(to_matrix(source), z, alpha, 200), limit)


def test_pagerank_gradcheck_of_a_matrix_that_is_not_symmetric(random_sparse, to_matrix, normal):
    matrix = to_matrix(random_sparse(seed=6))
    assert gradcheck(lambda z: personalised_pagerank(matrix, z, 0.3, 3), normal(9, 2, grad=True))


def test_pagerank_leaves_its_input_alone(random_sparse, to_matrix, normal):
    z = normal(9, 2)
    before = z.clone()
    personalised_pagerank(to_matrix(random_sparse(seed=6)), z, 0.3, 3)
    assert torch.equal(z, before)
