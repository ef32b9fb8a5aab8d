"""The soft orthogonal term β·Z̃Z̃ᵀZ, never n×n, with its closed-form gradient.

Z̃ is Z with every column divided by its L2 norm. With the d×d Gram matrix G = ZᵀZ, g = diag(G) and M = diag(1/g)·G,

    Z̃Z̃ᵀZ = Z·M                                        O(n·d²) time, O(d²) memory beside the output.

For Y = −β·Z·M and the incoming gradient U = dL/dY, with dM = −β·ZᵀU:

    dG = diag(1/g)·dM,  dG_ii −= Σ_j dM_ij G_ij / g_i²,
    dZ = −β·U·Mᵀ + Z·(dG + dGᵀ).

A column of zeros (a dead unit) has g = 0; its 1/g is taken as 0, so that everything stays finite.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.ops.propagation import propagate
from ncgc.ops.reduction import ALONE, Reduction
from ncgc.ops.sparse import SparseMatrix

_SYRK_FROM = 256  # below this many columns one product is as fast as the blocked half


def gram(z: Tensor) -> Tensor:
    """The Gram matrix ZᵀZ; for large d only the blocks on and above the diagonal are computed, 10/16 of the work.

    Args:
        z: Z, (n, d).

    Returns:
        (d, d), symmetric.

    >>> gram(torch.tensor([[1.0, 2.0], [0.0, 3.0]]))
    tensor([[ 1.,  2.],
            [ 2., 13.]])
    """
    d = z.shape[1]
    if d < _SYRK_FROM:
        return z.t() @ z
    block = (d + 3) // 4
    out = z.new_empty(d, d)
    for start in range(0, d, block):
        stop = min(start + block, d)
        torch.mm(z[:, start:stop].t(), z[:, start:], out=out[start:stop, start:])
        out[stop:, start:stop] = out[start:stop, stop:].t()
    return out


def coupling(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """M = diag(1/g)·G with g = diag(G).

    Args:
        matrix: G, (d, d); overwritten.

    Returns:
        M (d, d) and 1/g (d,), with 1/0 = 0.
    """
    g = matrix.diagonal().clone()
    inverse = torch.where(g > torch.finfo(g.dtype).tiny, g.reciprocal(), 0.0)
    return matrix.mul_(inverse.unsqueeze(1)), inverse


def gram_gradient(dm: Tensor, m: Tensor, inverse: Tensor) -> Tensor:
    """dG + dGᵀ from dM. Since G_ij/g_i² = M_ij/g_i, the correction of the diagonal needs M alone.

    Args:
        dm: dM, (d, d); overwritten.
        m: M of :func:`coupling`, (d, d).
        inverse: 1/g, (d,).

    Returns:
        (d, d).
    """
    correction = (dm * m).sum(dim=1).mul_(inverse)
    dg = dm.mul_(inverse.unsqueeze(1))
    dg.diagonal().sub_(correction)
    return dg + dg.t()


def propagated(matrix: SparseMatrix | None, z: Tensor, m: Tensor, beta: float, bias: Tensor | None) -> Tensor:
    """P·Z − β·Z·M + bias, in one buffer.

    Args:
        matrix: P, n×n, or r×n for the first r rows only; the zero matrix if None.
        z: Z, (n, d).
        m: M of :func:`coupling`, (d, d).
        beta: strength β.
        bias: (d,) or None.

    Returns:
        (n, d), or (r, d).
    """
    own = z if matrix is None else z[: matrix.shape[0]]
    out = z.new_empty(own.shape) if bias is None else bias.repeat(len(own), 1)  # never a view of the bias
    torch.addmm(out, own, m, beta=0.0 if bias is None else 1.0, alpha=-beta, out=out)
    return out if matrix is None else matrix.added(out, z, out=out)


class _SoftOrthogonal(torch.autograd.Function):
    """P·Z − β·Z·M + bias in one output buffer; P and the bias are optional."""

    @staticmethod
    def forward(
        ctx: Any, z: Tensor, beta: float, matrix: SparseMatrix | None, bias: Tensor | None, reduction: Reduction
    ) -> Tensor:
        m, inverse = coupling(reduction.total(gram(z[: reduction.owned(len(z))])))
        ctx.save_for_backward(z, m, inverse)
        ctx.beta, ctx.matrix, ctx.has_bias, ctx.reduction = beta, matrix, bias is not None, reduction
        return propagated(matrix, z, m, beta, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, Tensor | None, None]:
        z, m, inverse = ctx.saved_tensors
        u, beta, reduction = gradients[0], ctx.beta, ctx.reduction
        # one product [U | Z]·[−βMᵀ ; S] would need a copy of U and Z: two accumulating ones do not
        dz = torch.empty_like(z) if ctx.matrix is None else ctx.matrix.transposed_product(u)
        rows = len(u)  # P may be r×n
        dz[:rows].addmm_(u, m.t(), beta=0.0 if ctx.matrix is None else 1.0, alpha=-beta)
        dm = reduction.of("gradient").total((z[:rows].t() @ u).mul_(-beta))
        own = reduction.owned(len(z))  # a row counts once in G, where it is owned
        dz[:own].addmm_(z[:own], gram_gradient(dm, m, inverse))
        return dz, None, None, u.sum(dim=0) if ctx.has_bias else None, None


def soft_orthogonal(z: Tensor, beta: float, reduction: Reduction = ALONE) -> Tensor:
    """−β·Z̃Z̃ᵀZ: what a soft orthogonal layer adds to its propagation.

    Args:
        z: Z, (n, d).
        beta: strength β.
        reduction: completes ZᵀZ, and −β·ZᵀU in the gradient, where ``z`` holds some of the rows.

    Returns:
        (n, d).

    >>> soft_orthogonal(torch.eye(2), 0.5)  # orthonormal columns: Z̃Z̃ᵀZ = Z
    tensor([[-0.5000,  0.0000],
            [ 0.0000, -0.5000]])
    """
    result: Tensor = _SoftOrthogonal.apply(z, beta, None, None, reduction)
    return result


def propagate_soft_orthogonal(
    matrix: SparseMatrix, z: Tensor, beta: float, bias: Tensor | None = None, reduction: Reduction = ALONE
) -> Tensor:
    """P·Z − β·Z̃Z̃ᵀZ + bias, accumulated in one n×d buffer forward and one backward.

    Args:
        matrix: propagation P, n×n, constant; or r×n, for the first r rows only.
        z: Z = H·W, (n, d).
        beta: strength β of the soft orthogonal term; 0 gives plain propagation.
        bias: (d,) or None.
        reduction: completes the d×d sums over rows, where ``z`` holds some of the rows.

    Returns:
        (n, d), or (r, d).
    """
    if beta == 0.0:
        out = propagate(matrix, z)
        return out if bias is None else out + bias
    result: Tensor = _SoftOrthogonal.apply(z, beta, matrix, bias, reduction)
    return result
