"""β·Z̃Z̃ᵀZ against the naive n×n formula, its closed-form gradient against autograd and gradcheck."""

import pytest
import torch
from scipy import sparse
from torch.autograd import gradcheck

from ncgc.ops import propagate_soft_orthogonal, soft_orthogonal


@pytest.fixture
def module():
    import sys

    return sys.modules["ncgc.ops.soft_orthogonal"]


@pytest.fixture(params=["one product", "blocked"])
def gram_path(request, module, monkeypatch):
    if request.param == "blocked":
        monkeypatch.setattr(module, "_SYRK_FROM", 2)
    return request.param


def naive(z, beta):
    """−β·Z̃Z̃ᵀZ as printed, through the n×n matrix; a zero column stays zero."""
    norms = z.norm(dim=0)
    unit = z / torch.where(norms > 0, norms, torch.ones_like(norms))
    return -beta * ((unit @ unit.t()) @ z)


@pytest.mark.parametrize("width", [1, 3, 5, 7, 8, 13])
def test_forward_and_gradient_are_the_naive_formula(normal, dtype, gram_path, width):
    z = normal(20, width, seed=width, dtype=dtype, grad=True)
    oracle = z.detach().clone().requires_grad_()
    weight = normal(20, width, seed=50, dtype=dtype)
    result, expected = soft_orthogonal(z, 0.3), naive(oracle, 0.3)
    assert result.dtype == dtype
    torch.testing.assert_close(result, expected)
    (result * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(z.grad, oracle.grad, rtol=1e-4 if dtype == torch.float32 else 1e-7, atol=1e-5)


@pytest.mark.parametrize("width", [1, 2, 4, 5, 9, 16, 17])
def test_gram_is_the_product(module, normal, dtype, gram_path, width):
    z = normal(11, width, seed=width, dtype=dtype)
    result = module.gram(z)
    torch.testing.assert_close(result, z.t() @ z)
    torch.testing.assert_close(result, result.t(), rtol=0, atol=1e-6)


def test_blocks_are_taken_at_the_real_width(module, normal):
    z = normal(40, module._SYRK_FROM + 3, dtype=torch.float32)
    torch.testing.assert_close(module.gram(z), z.t() @ z, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (1, 2)])
def test_gradcheck(normal, gram_path, shape):
    assert gradcheck(lambda z: soft_orthogonal(z, 0.7), normal(*shape, seed=3, grad=True))


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_propagation_with_the_term_gradcheck(random_sparse, to_matrix, normal, gram_path, symmetric, with_bias, beta):
    matrix = to_matrix(random_sparse(seed=2, symmetric=symmetric), symmetric=symmetric)
    z, bias = normal(9, 4, grad=True), normal(4, seed=4, grad=True)
    if with_bias:
        assert gradcheck(lambda z, b: propagate_soft_orthogonal(matrix, z, beta, b), (z, bias))
    else:
        assert gradcheck(lambda z: propagate_soft_orthogonal(matrix, z, beta), z)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.05])
def test_propagation_with_the_term_is_the_naive_sum(random_sparse, to_matrix, normal, dtype, with_bias, beta):
    source = random_sparse(seed=7)
    z, bias = normal(9, 5, dtype=dtype), normal(5, seed=6, dtype=dtype)
    result = propagate_soft_orthogonal(to_matrix(source, dtype), z, beta, bias if with_bias else None)
    expected = torch.from_numpy(source.toarray()).to(dtype) @ z + naive(z, beta)
    torch.testing.assert_close(result, expected + bias if with_bias else expected)


def test_the_bias_and_z_are_not_written_to(random_sparse, to_matrix, normal):
    z, bias = normal(9, 4), normal(4, seed=1)
    before = z.clone(), bias.clone()
    propagate_soft_orthogonal(to_matrix(random_sparse()), z, 0.5, bias)
    soft_orthogonal(z, 0.5)
    assert torch.equal(z, before[0])
    assert torch.equal(bias, before[1])


def test_strided_input_and_expanded_gradient(normal):
    z = normal(4, 9, grad=True)
    oracle = z.detach().clone().requires_grad_()
    soft_orthogonal(z.t(), 0.5).sum().backward()
    naive(oracle.t(), 0.5).sum().backward()
    torch.testing.assert_close(z.grad, oracle.grad)


@pytest.mark.parametrize("propagated", [False, True])
def test_dead_columns_are_finite_and_inert(random_sparse, to_matrix, normal, dtype, gram_path, propagated):
    z = normal(9, 6, dtype=dtype)
    z[:, [1, 4]] = 0
    z.requires_grad_()
    oracle = z.detach().clone().requires_grad_()
    weight = normal(9, 6, seed=5, dtype=dtype)
    source = random_sparse(seed=8)
    if propagated:
        result = propagate_soft_orthogonal(to_matrix(source, dtype), z, 0.4)
        expected = torch.from_numpy(source.toarray()).to(dtype) @ oracle + naive(oracle, 0.4)
    else:
        result, expected = soft_orthogonal(z, 0.4), naive(oracle, 0.4)
    torch.testing.assert_close(result, expected)
    assert torch.equal(result[:, [1, 4]], torch.zeros(9, 2, dtype=dtype))
    (result * weight).sum().backward()
    (expected * weight).sum().backward()
    assert torch.isfinite(z.grad).all()
    torch.testing.assert_close(z.grad, oracle.grad, rtol=1e-4, atol=1e-5)


def test_all_columns_dead(dtype):
    z = torch.zeros(5, 3, dtype=dtype, requires_grad=True)
    result = soft_orthogonal(z, 0.5)
    result.sum().backward()
    assert torch.equal(result, torch.zeros(5, 3, dtype=dtype))
    assert torch.equal(z.grad, torch.zeros(5, 3, dtype=dtype))


@pytest.mark.parametrize("scale", [1e-15, 1e15])
def test_far_scales_stay_finite(normal, scale):
    z = (normal(8, 3, dtype=torch.float32) * scale).requires_grad_()
    result = soft_orthogonal(z, 0.5)
    result.sum().backward()
    assert torch.isfinite(result).all()
    assert torch.isfinite(z.grad).all()
    torch.testing.assert_close(result / scale, naive(z.detach() / scale, 0.5))


def test_orthonormal_columns_are_shrunk_by_beta(normal):
    q = torch.linalg.qr(normal(10, 4)).Q
    torch.testing.assert_close(soft_orthogonal(q, 0.25), -0.25 * q)


def test_one_row_leaves_the_bias_as_it_is(to_matrix, normal):
    """A single row of biases is in memory what the bias is: it must not be written to."""
    z, bias = normal(1, 4, seed=1), normal(4, seed=2)
    before = bias.clone()
    propagate_soft_orthogonal(to_matrix(sparse.csr_array([[1.0]])), z, 0.3, bias)
    torch.testing.assert_close(bias, before, rtol=0, atol=0)
