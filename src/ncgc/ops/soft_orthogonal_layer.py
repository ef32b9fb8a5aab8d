"""A whole soft orthogonal layer P·Z − β·Z̃Z̃ᵀZ + b, Z = H·W, with a cheaper gradient for the first layer.

In the first layer H = X is constant and needs no gradient. The Gram matrix of Z = X·W is G = WᵀF with F = XᵀZ (D×d), or
F = (XᵀX)·W with XᵀX computed once when X is dense. The gradient of W may leave out everything n×d that only dZ would
need (U is the incoming gradient, S = dG + dGᵀ):

    dW = Xᵀ(P·U) − β·(XᵀU)·Mᵀ + F·S,     dM = −β·Wᵀ(XᵀU)          by two products with Xᵀ,
    dW = Xᵀ(P·U − β·U·Mᵀ) + F·S,         dM = −β·ZᵀU              by one, when X is wide and dense.

Which is cheaper follows from the sizes (:func:`first_layer_algorithm`). Where P has far fewer rows than columns (r×n:
the first r nodes and their neighbours), (P·X)·W multiplies r rows by W and P·(X·W) n of them (:func:`aggregate_first`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.ops.feature_matrix import SPARSE_COST, FeatureMatrix, linear
from ncgc.ops.reduction import ALONE, Reduction
from ncgc.ops.soft_orthogonal import coupling, gram_gradient, propagate_soft_orthogonal, propagated, soft_orthogonal
from ncgc.ops.sparse import SparseMatrix


def first_layer_algorithm(features: FeatureMatrix, width: int) -> str:
    """The cheapest gradient of the first layer, by counting multiplications.

    In units of n·d², "plain" needs 3 + 10/16 beside X·W, Z·M and XᵀU; a sparse product costs about ten times its
    entries.

    Args:
        features: X, (n, D).
        width: d, columns of W.

    Returns:
        "twice" or "once" (products with Xᵀ in the gradient), or "plain" (the gradient of any other layer).
    """
    n, columns = features.shape
    if features.gram is not None:
        return "twice" if columns <= 2 * width else "once"
    if features.sparse is None or n == 0:
        return "plain"
    sparse_product = SPARSE_COST * features.sparse.nnz / (n * width)
    return "twice" if 2 * sparse_product + 4 * columns / n < 3 + 10 / 16 else "plain"


class _FirstLayer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        weight: Tensor,
        features: FeatureMatrix,
        matrix: SparseMatrix,
        beta: float,
        bias: Tensor | None,
        twice: bool,
        reduction: Reduction,
    ) -> Tensor:
        z = features.product(weight)
        f = features.transposed_product(z) if features.gram is None else features.gram @ weight
        m, inverse = coupling(reduction.total(weight.t() @ f))
        ctx.save_for_backward(weight, f, m, inverse, None if twice else z)
        ctx.features, ctx.matrix, ctx.beta, ctx.has_bias = features, matrix, beta, bias is not None
        ctx.reduction = reduction.of("gradient")
        return propagated(matrix, z, m, beta, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weight, f, m, inverse, z = ctx.saved_tensors
        u, features, beta = gradients[0], ctx.features, ctx.beta
        v = ctx.matrix.transposed_product(u)
        if z is None:
            e = features.transposed_product(u)
            s = gram_gradient(ctx.reduction.total((weight.t() @ e).mul_(-beta)), m, inverse)
            dw = features.transposed_product(v).addmm_(e, m.t(), alpha=-beta)
        else:
            s = gram_gradient(ctx.reduction.total((z.t() @ u).mul_(-beta)), m, inverse)
            dw = features.transposed_product(v.addmm_(u, m.t(), alpha=-beta))
        return dw.addmm_(f, s), None, None, None, u.sum(dim=0) if ctx.has_bias else None, None, None


def aggregate_first(
    features: FeatureMatrix,
    weight: Tensor,
    matrix: SparseMatrix,
    beta: float,
    bias: Tensor | None,
    reduction: Reduction,
) -> Tensor:
    """(P·X)·W − β·Z̃Z̃ᵀZ + bias of the first r rows: no n×d matrix is made.

    Args:
        features: X, (n, D), dense.
        weight: W, (D, d).
        matrix: P, r×n.
        beta: strength β of the soft orthogonal term.
        bias: (d,) or None.
        reduction: completes the d×d sums over rows.

    Returns:
        (r, d).
    """
    out = matrix.product(features.to_dense()) @ weight
    if beta != 0.0:
        out = out + soft_orthogonal(features.first(matrix.shape[0]).linear(weight), beta, reduction)
    return out if bias is None else out + bias


def soft_orthogonal_layer(
    h: Tensor | FeatureMatrix,
    weight: Tensor,
    matrix: SparseMatrix,
    beta: float,
    bias: Tensor | None = None,
    reduction: Reduction = ALONE,
) -> Tensor:
    """P·Z − β·Z̃Z̃ᵀZ + bias with Z = H·W, by the cheapest algorithm.

    Args:
        h: H, (n, d_in) hidden states, or the features X.
        weight: W, (d_in, d).
        matrix: propagation P, n×n, or r×n for the first r rows only.
        beta: strength β of the soft orthogonal term.
        bias: (d,) or None.
        reduction: completes the d×d sums over rows, where ``h`` holds some of the rows. Every algorithm calls it with
            the same sums in the same order, so that processes may choose different ones.

    Returns:
        (n, d), or (r, d).
    """
    if isinstance(h, FeatureMatrix) and h.dense is not None and 2 * matrix.shape[0] < matrix.shape[1]:
        return aggregate_first(h, weight, matrix, beta, bias, reduction)
    if beta != 0.0 and isinstance(h, FeatureMatrix):
        way = first_layer_algorithm(h, weight.shape[1]) if reduction.owned(h.shape[0]) == h.shape[0] else "plain"
        if way != "plain":
            result: Tensor = _FirstLayer.apply(weight, h, matrix, beta, bias, way == "twice", reduction)
            return result
    return propagate_soft_orthogonal(matrix, linear(h, weight), beta, bias, reduction)
