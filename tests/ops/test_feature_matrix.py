"""X·W with X sparse or dense, with and without dropout, against the dense product."""

import numpy as np
import pytest
import torch
from scipy import sparse
from torch.autograd import gradcheck

from ncgc.ops import FeatureMatrix, keep_mask, linear, narrow_linear, narrow_product


@pytest.fixture(params=["sparse", "dense"])
def form(request):
    return request.param


def features(form, source, dtype=torch.float64):
    result = FeatureMatrix(source, dense_from=1.1 if form == "sparse" else 0.0, dtype=dtype)
    assert result.is_sparse == (form == "sparse")
    return result


@pytest.mark.parametrize("columns", [3, 20])  # few are multiplied the other way round
@pytest.mark.parametrize("given", ["scipy", "numpy"])
def test_linear_is_the_dense_product(random_sparse, normal, dtype, form, given, columns):
    source = random_sparse(10, 7, seed=1)
    x = torch.from_numpy(source.toarray()).to(dtype)
    weight = normal(7, columns, dtype=dtype, grad=True)
    oracle = weight.detach().clone().requires_grad_()
    upstream = normal(10, columns, seed=2, dtype=dtype)
    result = features(form, source if given == "scipy" else source.toarray(), dtype).linear(weight)
    assert result.is_contiguous()
    torch.testing.assert_close(result, x @ oracle)
    (result * upstream).sum().backward()
    (x @ oracle * upstream).sum().backward()
    torch.testing.assert_close(weight.grad, oracle.grad)


def test_gradcheck(random_sparse, normal, form):
    matrix = features(form, random_sparse(10, 7, seed=1))
    assert gradcheck(matrix.linear, normal(7, 3, grad=True))


def test_gradcheck_with_dropout_of_one_seed(random_sparse, normal, form):
    matrix = features(form, random_sparse(10, 7, seed=1))

    def product(weight):
        return matrix.dropout(0.5, torch.Generator().manual_seed(3)).linear(weight)

    assert gradcheck(product, normal(7, 3, grad=True))


def test_dropout_drops_stored_entries_and_scales_the_rest(random_sparse, form):
    source = random_sparse(30, 20, seed=4)
    matrix = features(form, source)
    drawn = matrix.dropout(0.5, torch.Generator().manual_seed(5)).to_dense().numpy()
    full = source.toarray()
    kept = drawn != 0
    np.testing.assert_array_equal(drawn[kept], 2 * full[kept])
    assert (full[kept] != 0).all()
    assert 0.35 < kept.sum() / (full != 0).sum() < 0.65
    np.testing.assert_array_equal(matrix.to_dense().numpy(), full)  # the draw does not change X


def test_the_draw_of_sparse_features_is_one_mask_over_the_stored_entries(random_sparse):
    source = random_sparse(12, 9, seed=6)
    mask, scale = keep_mask((source.nnz,), 0.3, torch.Generator().manual_seed(7))
    expected = source.copy()
    expected.data = expected.data * mask.numpy() * scale
    drawn = features("sparse", source).dropout(0.3, torch.Generator().manual_seed(7))
    np.testing.assert_allclose(drawn.to_dense().numpy(), expected.toarray(), rtol=1e-15)


def test_linear_of_a_draw_is_the_product_with_it_twice(random_sparse, normal, form):
    """SAGE and the residual map multiply one draw by two weights: both must see the same one."""
    drawn = features(form, random_sparse(10, 7, seed=8)).dropout(0.5, torch.Generator().manual_seed(1))
    for seed in (2, 3):
        weight = normal(7, 3, seed=seed)
        torch.testing.assert_close(drawn.linear(weight), drawn.to_dense() @ weight)


@pytest.mark.parametrize("setting", [{"p": 0.0}, {"p": 0.5, "training": False}])
def test_no_dropout_gives_the_matrix_itself(random_sparse, form, setting):
    matrix = features(form, random_sparse(10, 7))
    assert matrix.dropout(**setting) is matrix


def test_dropout_leaves_the_global_generator_alone(random_sparse, form):
    before = torch.get_rng_state()
    features(form, random_sparse(10, 7)).dropout(0.5, torch.Generator().manual_seed(1))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_form_follows_the_density():
    thin, thick = np.eye(50, dtype=np.float32), np.ones((5, 5), dtype=np.float32)
    assert FeatureMatrix(thin).is_sparse
    assert FeatureMatrix(sparse.csr_array(thin)).is_sparse
    assert not FeatureMatrix(thick).is_sparse
    assert not FeatureMatrix(sparse.csr_array(thick)).is_sparse
    assert FeatureMatrix(thin).density == pytest.approx(0.02)


def test_dense_features_with_many_zeros_are_sparse_for_draws(normal):
    half_empty = np.where(np.arange(60).reshape(12, 5) % 3 == 0, 2.0, 0.0)
    weight = normal(5, 2)
    matrix = features("dense", half_empty)
    assert matrix.for_dropout.is_sparse
    assert matrix.for_dropout is matrix.for_dropout
    torch.testing.assert_close(matrix.for_dropout.linear(weight), matrix.linear(weight))
    full = features("dense", np.ones((4, 3)))
    assert full.for_dropout is full
    stored = features("sparse", half_empty)
    assert stored.for_dropout is stored


def test_rows_taken_are_rows_of_x(random_sparse, normal, form):
    source = random_sparse(10, 7, seed=1)
    nodes = torch.tensor([4, 0, 4])
    taken = features(form, source).take(nodes)
    assert taken.shape == (3, 7)
    assert taken.is_sparse == (form == "sparse")
    weight = normal(7, 2)
    torch.testing.assert_close(taken.linear(weight), torch.from_numpy(source.toarray())[nodes] @ weight)


def test_zero_features_multiply_and_drop():
    matrix = FeatureMatrix(np.zeros((4, 3), dtype=np.float32))
    weight = torch.ones(3, 2, requires_grad=True)
    matrix.dropout(0.5, torch.Generator().manual_seed(0)).linear(weight).sum().backward()
    assert torch.equal(weight.grad, torch.zeros(3, 2))


def test_the_free_function_takes_both(random_sparse, normal, form):
    source, weight = random_sparse(10, 7), normal(7, 2)
    hidden = torch.from_numpy(source.toarray())
    torch.testing.assert_close(linear(features(form, source), weight), linear(hidden, weight))


def test_dropped_rows_are_zero_and_the_others_scaled(random_sparse, normal, form):
    source = random_sparse(400, 7, seed=1)
    matrix = features(form, source)
    weight = normal(7, 3)
    drawn = matrix.drop_rows(0.25, torch.Generator().manual_seed(0))
    whole, result = torch.from_numpy(source.toarray()) @ weight, drawn.product(weight)
    kept = (result != 0).any(dim=1)
    assert 0.6 < kept[(whole != 0).any(dim=1)].double().mean() < 0.9
    torch.testing.assert_close(result[kept], whole[kept] / 0.75)
    torch.testing.assert_close(drawn.to_dense() @ weight, result)
    upstream = normal(400, 3, seed=2)
    torch.testing.assert_close(drawn.transposed_product(upstream), drawn.to_dense().t() @ upstream)
    assert matrix.drop_rows(0.25, training=False) is matrix
    assert gradcheck(drawn.linear, normal(7, 3, grad=True))


def test_the_kept_product_is_never_that_of_other_weights(random_sparse, normal, form):
    """The pass without dropout leaves X·W for the next one with rows dropped: only for the same, unchanged weight."""
    matrix = features(form, random_sparse(30, 7, seed=1))
    generator = torch.Generator().manual_seed(0)
    weight, other = normal(7, 3), normal(7, 3, seed=5)
    matrix.drop_rows(0.5, generator)
    for change in (lambda: None, lambda: weight.mul_(3.0), lambda: matrix.product(other)):
        matrix.product(weight)
        change()
        drawn = matrix.drop_rows(0.5, generator)
        torch.testing.assert_close(drawn.product(weight), drawn.to_dense() @ weight)
    both = matrix.dropout(0.5, generator).drop_rows(0.5, generator)  # its X is another
    matrix.product(weight)
    torch.testing.assert_close(both.product(weight), both.to_dense() @ weight)


def test_nothing_is_kept_that_nobody_will_use(random_sparse, normal, form):
    matrix = features(form, random_sparse(30, 7, seed=1))
    matrix.product(normal(7, 3))
    assert not matrix._latest


@pytest.mark.parametrize("columns", [1, 7, 12, 13, 40])
def test_narrow_product_is_that_of_torch(normal, dtype, columns):
    left, right = normal(30, 6, dtype=dtype), normal(6, columns, seed=1, dtype=dtype)
    found = narrow_product(left, right)
    assert found.is_contiguous()
    torch.testing.assert_close(found, left @ right)
    torch.testing.assert_close(narrow_product(left.t(), left[:, :3]), left.t() @ left[:, :3])


@pytest.mark.parametrize("columns", [2, 15])
def test_narrow_linear_gradcheck(normal, columns):
    h, weight = normal(8, 5, grad=True), normal(5, columns, seed=1, grad=True)
    assert gradcheck(narrow_linear, (h, weight))


def test_narrow_linear_gives_no_gradient_where_none_is_needed(normal):
    h, weight = normal(8, 5), normal(5, 2, seed=1, grad=True)
    narrow_linear(h, weight).sum().backward()
    torch.testing.assert_close(weight.grad, h.t() @ torch.ones(8, 2, dtype=h.dtype))
    assert h.grad is None
