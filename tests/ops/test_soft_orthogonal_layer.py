"""The first layer's cheaper ways against the naive formula through the n×n matrix, and against gradcheck."""

import numpy as np
import pytest
import torch
from scipy import sparse
from torch.autograd import gradcheck

from ncgc.ops import FeatureMatrix, Reduction, first_rows, soft_orthogonal_layer
from ncgc.ops.soft_orthogonal_layer import first_layer_algorithm

# n, D, d and whether X is dense, chosen so that each way is taken
SHAPES = {
    "dense, narrow": (12, 5, 4, True, "twice"),
    "dense, wide": (12, 9, 4, True, "once"),
    "dense, wider than tall": (6, 9, 4, True, "plain"),
    "sparse, few entries": (40, 6, 12, False, "twice"),
    "sparse, many entries": (12, 30, 4, False, "plain"),
}


@pytest.fixture(params=list(SHAPES))
def case(request, normal):
    n, columns, width, dense, way = SHAPES[request.param]
    x = normal(n, columns, seed=1).numpy().copy()
    if not dense:
        chosen = np.random.default_rng(0).random(x.shape) < (0.04 if way == "twice" else 0.5)
        x = np.where(chosen, x, 0.0)
    features = FeatureMatrix(x if dense else sparse.csr_array(x), dense_from=0.0 if dense else 1.1, dtype=torch.float64)
    return features, torch.from_numpy(x), normal(columns, width, seed=2, grad=True), way


def naive(x, weight, propagation, beta, bias):
    z = x @ weight
    norms = z.norm(dim=0)
    unit = z / torch.where(norms > 0, norms, torch.ones_like(norms))
    return propagation @ z - beta * (unit @ unit.t() @ z) + bias


def test_each_way_is_taken_and_equals_the_naive_formula(case, random_sparse, to_matrix, normal):
    features, x, weight, way = case
    assert first_layer_algorithm(features, weight.shape[1]) == way
    propagation = random_sparse(len(x), len(x))
    bias = normal(weight.shape[1], seed=3, grad=True)
    out = soft_orthogonal_layer(features, weight, to_matrix(propagation), 0.3, bias)
    expected = naive(x, weight, torch.from_numpy(propagation.toarray()), 0.3, bias)
    torch.testing.assert_close(out, expected)
    direction = normal(*out.shape, seed=4)
    ours = torch.autograd.grad((out * direction).sum(), [weight, bias])
    theirs = torch.autograd.grad((expected * direction).sum(), [weight, bias])
    torch.testing.assert_close(ours, theirs)


def test_gradcheck(case, random_sparse, to_matrix, normal):
    features, x, weight, _ = case
    matrix = to_matrix(random_sparse(len(x), len(x)))
    bias = normal(weight.shape[1], seed=3, grad=True)
    assert gradcheck(lambda w, b: soft_orthogonal_layer(features, w, matrix, 0.3, b), (weight, bias))
    assert gradcheck(lambda w: soft_orthogonal_layer(features, w, matrix, 0.3), (weight,))


def test_a_dropout_draw_of_dense_features_is_not_taken_for_constant(normal, to_matrix, random_sparse):
    x = normal(12, 5, seed=1)
    features = FeatureMatrix(x.numpy(), dtype=torch.float64)
    assert features.gram is not None
    drawn = features.dropout(0.5, torch.Generator().manual_seed(0))
    assert drawn.gram is None
    assert first_layer_algorithm(drawn, 4) == "plain"
    weight, propagation = normal(5, 4, seed=2), random_sparse(12, 12)
    out = soft_orthogonal_layer(drawn, weight, to_matrix(propagation), 0.3)
    expected = naive(drawn.to_dense(), weight, torch.from_numpy(propagation.toarray()), 0.3, 0.0)
    torch.testing.assert_close(out, expected)


def test_a_dropout_draw_of_sparse_features_keeps_its_own_values(normal, to_matrix, random_sparse):
    chosen = np.random.default_rng(0).random((40, 6)) < 0.1
    x = np.where(chosen, normal(40, 6, seed=1).numpy(), 0.0)
    drawn = FeatureMatrix(sparse.csr_array(x), dense_from=1.1, dtype=torch.float64).dropout(
        0.5, torch.Generator().manual_seed(0)
    )
    weight, propagation = normal(6, 30, seed=2, grad=True), random_sparse(40, 40)
    assert first_layer_algorithm(drawn, 30) == "twice"
    out = soft_orthogonal_layer(drawn, weight, to_matrix(propagation), 0.3)
    expected = naive(drawn.to_dense(), weight, torch.from_numpy(propagation.toarray()), 0.3, 0.0)
    torch.testing.assert_close(out, expected)
    ours, theirs = (torch.autograd.grad(y.square().sum(), weight, retain_graph=True) for y in (out, expected))
    torch.testing.assert_close(ours, theirs)


def test_hidden_states_and_beta_zero_go_the_plain_way(normal, to_matrix, random_sparse):
    propagation = random_sparse(9, 9)
    matrix, weight = to_matrix(propagation), normal(5, 4, seed=2)
    h = normal(9, 5, seed=1)
    dense = torch.from_numpy(propagation.toarray())
    torch.testing.assert_close(soft_orthogonal_layer(h, weight, matrix, 0.3), naive(h, weight, dense, 0.3, 0.0))
    features = FeatureMatrix(h.numpy(), dtype=torch.float64)
    torch.testing.assert_close(soft_orthogonal_layer(features, weight, matrix, 0.0), dense @ h @ weight)


class _Given(Reduction):
    """The Gram matrix of all rows is known, and no row at hand counts in it."""

    alone = False

    def __init__(self, whole, name=""):
        self.whole, self.name = whole, name

    def of(self, name):
        return _Given(self.whole, name)

    def owned(self, rows):
        return 0

    def total(self, values):
        return values if self.name == "gradient" else self.whole.clone()


@pytest.mark.parametrize("rows", [3, 9])  # few rows of P: it multiplies X first; many: X is multiplied with W first
@pytest.mark.parametrize("beta", [0.0, 0.3])
@pytest.mark.parametrize("dense", [True, False])
def test_first_rows_alone(rows, beta, dense, random_sparse, to_matrix, normal):
    n, columns, width = 12, 5, 4
    x, weight, bias = normal(n, columns, seed=1), normal(columns, width, seed=2, grad=True), normal(width, grad=True)
    whole = normal(20, width, seed=5)
    whole = whole.t() @ whole
    given = x.numpy() if dense else sparse.csr_array(x.numpy())
    features = FeatureMatrix(given, dense_from=0.0 if dense else 1.1, dtype=torch.float64)
    propagation = random_sparse(rows, n)

    def ours(w, b):
        return soft_orthogonal_layer(features, w, to_matrix(propagation), beta, b, _Given(whole))

    def naive_rows(w, b):
        z = x @ w
        m = whole / whole.diagonal().unsqueeze(1)
        return torch.from_numpy(propagation.toarray()) @ z - beta * z[:rows] @ m + b

    torch.testing.assert_close(ours(weight, bias), naive_rows(weight, bias))
    direction = normal(rows, width, seed=4)
    for found, expected in zip(
        torch.autograd.grad((ours(weight, bias) * direction).sum(), [weight, bias]),
        torch.autograd.grad((naive_rows(weight, bias) * direction).sum(), [weight, bias]),
        strict=True,
    ):
        torch.testing.assert_close(found, expected)
    assert gradcheck(ours, (weight, bias))


@pytest.mark.parametrize("dense", [True, False])
def test_first_rows_of_features(dense, normal):
    x = normal(6, 4, seed=1).numpy()
    features = FeatureMatrix(x if dense else sparse.csr_array(x), dense_from=0.0 if dense else 1.1, dtype=torch.float64)
    drawn = features.dropout(0.5, torch.Generator().manual_seed(0)).drop_rows(0.3, torch.Generator().manual_seed(1))
    for given in (features, drawn):
        torch.testing.assert_close(first_rows(given, 2).to_dense(), given.to_dense()[:2])
        weight, gradient = normal(4, 3, seed=2), normal(2, 3, seed=3)
        torch.testing.assert_close(first_rows(given, 2).product(weight), given.to_dense()[:2] @ weight)
        torch.testing.assert_close(
            first_rows(given, 2).transposed_product(gradient), given.to_dense()[:2].t() @ gradient
        )
    assert first_rows(features, 6) is features
