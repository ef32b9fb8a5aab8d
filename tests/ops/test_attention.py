"""Attention over CSR against a loop over nodes and heads."""

import pytest
import torch
from scipy import sparse
from torch.autograd import gradcheck

from ncgc.ops import attend, keep_mask, with_self_loops
from ncgc.ops.attention import attention_coefficients


def loops(source_matrix, z, source, target, slope=0.2, factors=None):
    """out_i = Σ_j α_ij f_ij Z_j one node and head at a time; f are the dropout factors (heads, nnz) in CSR order."""
    dense = torch.from_numpy(source_matrix.toarray()).to(z.dtype)
    heads = source.shape[1]
    blocks = z.view(len(z), heads, -1)
    rows, at = [], 0
    for i in range(len(z)):
        near = dense[i].nonzero().flatten()
        parts = []
        for h in range(heads):
            e = torch.nn.functional.leaky_relu(source[near, h] + target[i, h], slope)
            weights = dense[i, near] * e.exp()
            alpha = weights / weights.sum()
            if factors is not None:
                alpha = alpha * factors[h, at : at + len(near)]
            parts.append((alpha.unsqueeze(1) * blocks[near, h]).sum(dim=0))
        rows.append(torch.cat(parts))
        at += len(near)
    return torch.stack(rows)


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def neighbourhood(request, random_sparse):
    """A+I of a matrix that is not symmetric, so that rows and columns cannot be mixed up."""
    return with_self_loops(random_sparse(9, 9, seed=1, weighted=request.param))


def inputs(normal, heads, dtype=torch.float64, width=3):
    return (
        normal(9, heads * width, seed=2, dtype=dtype, grad=True),
        normal(9, heads, seed=3, dtype=dtype, grad=True),
        normal(9, heads, seed=4, dtype=dtype, grad=True),
    )


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_forward_and_gradient_are_the_loops(neighbourhood, to_matrix, normal, dtype, heads):
    given = inputs(normal, heads, dtype)
    oracle = tuple(x.detach().clone().requires_grad_() for x in given)
    upstream = normal(9, heads * 3, seed=5, dtype=dtype)
    result, expected = attend(to_matrix(neighbourhood, dtype), *given), loops(neighbourhood, *oracle)
    assert result.dtype == dtype
    torch.testing.assert_close(result, expected)
    (result * upstream).sum().backward()
    (expected * upstream).sum().backward()
    for mine, theirs in zip(given, oracle, strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("heads", [1, 2])
def test_gradcheck(neighbourhood, to_matrix, normal, heads):
    matrix = to_matrix(neighbourhood)
    assert gradcheck(lambda *x: attend(matrix, *x), inputs(normal, heads, width=2))


@pytest.mark.parametrize("heads", [1, 2])
def test_some_rows_alone(neighbourhood, to_matrix, normal, heads):
    z, source, target = inputs(normal, heads, width=2)
    some = (z, source, target[:4].detach().requires_grad_())
    rows = to_matrix(sparse.csr_array(neighbourhood[:4]))
    torch.testing.assert_close(attend(rows, *some), attend(to_matrix(neighbourhood), z, source, target)[:4])
    assert gradcheck(lambda *x: attend(rows, *x, p=0.4, generator=torch.Generator().manual_seed(6)), some)


@pytest.mark.parametrize("heads", [1, 2])
def test_with_soft_orthogonality_and_bias(neighbourhood, to_matrix, normal, heads):
    matrix, given, bias = to_matrix(neighbourhood), inputs(normal, heads, width=2), normal(2 * heads, seed=8, grad=True)
    unit = given[0] / given[0].norm(dim=0)
    expected = loops(neighbourhood, *given) - 0.3 * (unit @ unit.t() @ given[0]) + bias
    torch.testing.assert_close(attend(matrix, *given, beta=0.3, bias=bias), expected)
    assert gradcheck(lambda b, *x: attend(matrix, *x, beta=0.3, bias=b), (bias, *given))


@pytest.mark.parametrize("heads", [1, 2])
def test_gradcheck_with_attention_dropout(neighbourhood, to_matrix, normal, heads):
    matrix = to_matrix(neighbourhood)

    def run(*x):
        return attend(matrix, *x, p=0.4, generator=torch.Generator().manual_seed(6))

    assert gradcheck(run, inputs(normal, heads, width=2))


def test_attention_dropout_drops_coefficients_after_the_softmax(neighbourhood, to_matrix, normal):
    given = tuple(x.detach() for x in inputs(normal, 2))
    matrix = to_matrix(neighbourhood)
    mask, scale = keep_mask((2, matrix.nnz), 0.5, torch.Generator().manual_seed(7))
    result = attend(matrix, *given, p=0.5, generator=torch.Generator().manual_seed(7))
    torch.testing.assert_close(result, loops(neighbourhood, *given, factors=mask * scale))
    assert not torch.allclose(result, attend(matrix, *given))


@pytest.mark.parametrize("slope", [0.0, 0.2, 1.0])
def test_the_slope_is_used(neighbourhood, to_matrix, normal, slope):
    given = tuple(x.detach() for x in inputs(normal, 2))
    torch.testing.assert_close(
        attend(to_matrix(neighbourhood), *given, slope=slope), loops(neighbourhood, *given, slope=slope)
    )


def test_values_are_a_softmax_over_each_row(neighbourhood, to_matrix, normal):
    matrix = to_matrix(neighbourhood)
    _, source, target = (x.detach() for x in inputs(normal, 3))
    alpha, _ = attention_coefficients(matrix, source, target, 0.2)
    assert alpha.shape == (3, matrix.nnz)
    assert (alpha > 0).all()
    for head in alpha:
        sums = torch.zeros(9, dtype=torch.float64).index_add_(0, matrix.row_of, head)
        torch.testing.assert_close(sums, torch.ones(9, dtype=torch.float64))


@pytest.mark.parametrize("shift", [-500.0, 500.0])
def test_large_scores_do_not_overflow(neighbourhood, to_matrix, normal, dtype, shift):
    matrix = to_matrix(neighbourhood, dtype)
    z, source, target = (x.detach() for x in inputs(normal, 2, dtype))
    source = (source + shift).requires_grad_()
    result = attend(matrix, z, source, target)
    result.sum().backward()
    assert torch.isfinite(result).all()
    assert torch.isfinite(source.grad).all()
    if dtype == torch.float64:  # here exp(500) is still a number, so the naive softmax is an oracle
        torch.testing.assert_close(result, loops(neighbourhood, z, source, target))


def test_one_node_attends_to_itself(to_matrix, normal):
    z = normal(1, 4)
    matrix = to_matrix(sparse.csr_array([[1.0]]))
    torch.testing.assert_close(attend(matrix, z, normal(1, 2, seed=1), normal(1, 2, seed=2)), z)


def test_the_global_generator_is_untouched(neighbourhood, to_matrix, normal):
    before = torch.get_rng_state()
    attend(to_matrix(neighbourhood), *inputs(normal, 2), p=0.5, generator=torch.Generator().manual_seed(1))
    assert torch.equal(torch.get_rng_state(), before)
