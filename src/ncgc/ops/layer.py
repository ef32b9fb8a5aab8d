"""A whole soft orthogonal layer, and a cheaper one for the first layer over dense features.

What is constant about X is computed once and for all.

With C = XᵀX (D×D, constant) and F = C·W, the Gram matrix of Z = X·W is G = WᵀF, with no product over the n rows. X gets no
gradient, so that of W may leave out everything n×d that only Z would need (U is the incoming gradient, S = dG + dGᵀ):

    dW = Xᵀ(P·U) − β·(XᵀU)·Mᵀ + F·S,     dM = −β·Wᵀ(XᵀU)          when D ≤ 2d,
    dW = Xᵀ(P·U − β·U·Mᵀ) + F·S,         dM = −β·ZᵀU              otherwise (fewer products with a wide X).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.ops.soft_orthogonal import coupling, gram_gradient, propagate_soft_orthogonal, propagated
from ncgc.ops.sparse import SparseMatrix, product
from ncgc.ops.sparse_linear import FeatureMatrix, linear


class _InputLayer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, features: FeatureMatrix, matrix: SparseMatrix, beta: float, bias: Tensor | None
    ) -> Tensor:
        x, constant = features.to_dense(), features.gram
        assert constant is not None
        z, f = x @ weight, constant @ weight
        m, inverse = coupling(weight.t() @ f)
        narrow = x.shape[1] <= 2 * weight.shape[1]
        ctx.save_for_backward(weight, f, m, inverse, None if narrow else z)
        ctx.x, ctx.matrix, ctx.beta, ctx.has_bias = x, matrix, beta, bias is not None
        return propagated(matrix, z, m, beta, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weight, f, m, inverse, z = ctx.saved_tensors
        u, x, beta = gradients[0], ctx.x, ctx.beta
        v = product(ctx.matrix.transposed, u)
        if z is None:
            e = x.t() @ u
            s = gram_gradient((weight.t() @ e).mul_(-beta), m, inverse)
            dw = (x.t() @ v).addmm_(e, m.t(), alpha=-beta)
        else:
            s = gram_gradient((z.t() @ u).mul_(-beta), m, inverse)
            dw = x.t() @ v.addmm_(u, m.t(), alpha=-beta)
        return dw.addmm_(f, s), None, None, None, u.sum(dim=0) if ctx.has_bias else None


def soft_orthogonal_layer(
    h: Tensor | FeatureMatrix, weight: Tensor, matrix: SparseMatrix, beta: float, bias: Tensor | None = None
) -> Tensor:
    """P·Z − β·Z̃Z̃ᵀZ + bias with Z = H·W, by the cheaper way: the one above for dense constant features.

    Args:
        h: hidden states n×d_in, or the features.
        weight: W, d_in×d.
        matrix: the propagation P.
    """
    if beta != 0.0 and isinstance(h, FeatureMatrix) and h.gram is not None:
        result: Tensor = _InputLayer.apply(weight, h, matrix, beta, bias)
        return result
    return propagate_soft_orthogonal(matrix, linear(h, weight), beta, bias)
