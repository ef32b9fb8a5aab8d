"""Graph attention over CSR: one value per edge and head, never edges × features in memory.

For node i, neighbour j and head h, with s = Z_h·a_src and t = Z_h·a_dst,

    e_ij = LeakyReLU(s_j + t_i),   α_ij = w_ij·exp(e_ij) / Σ_k w_ik·exp(e_ik),   out_i = Σ_j α_ij·Z_j,

where w are the edge weights (1 in an unweighted graph, which gives GAT as published). The sum is one sparse product per
head with α as CSR values, to which −β·Z̃Z̃ᵀZ + bias is added in place. Backward, with U = dL/dout: dZ = αᵀU plus the
soft orthogonal term's, and dα is U·Zᵀ sampled on the pattern; sums over a row are sparse products with a vector of
ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.ops.dropout import keep_factors, random_bytes
from ncgc.ops.reduction import ALONE, Reduction
from ncgc.ops.row_generator import RandomSource
from ncgc.ops.soft_orthogonal import coupling, gram, gram_gradient
from ncgc.ops.sparse import SparseMatrix, product


def _row_sums(csr: Tensor) -> Tensor:
    return product(csr, torch.ones(csr.shape[1], 1, dtype=csr.dtype)).squeeze(1)


def _split(x: Tensor, heads: int) -> Tensor:
    """(n, heads·c) → contiguous (heads, n, c)."""
    n, width = x.shape
    return x.view(n, heads, width // heads).transpose(0, 1).contiguous()


def _joined(x: Tensor) -> Tensor:
    """(heads, n, c) → contiguous (n, heads·c)."""
    heads, n, width = x.shape
    return x.transpose(0, 1).reshape(n, heads * width)


def attention_coefficients(
    pattern: SparseMatrix, source: Tensor, target: Tensor, slope: float
) -> tuple[Tensor, Tensor]:
    """α: softmax over each CSR row of LeakyReLU(source_j + target_i), weighted by the pattern's values.

    Args:
        pattern: n×m, row i lists the nodes that i attends to.
        source: (m, heads) scores s_j of a node as a neighbour.
        target: (n, heads) scores t_i of a node that attends.
        slope: of the LeakyReLU.

    Returns:
        α (heads, nnz), and where the score is below 0 (heads, nnz): all that the gradient needs of the scores.
    """
    columns, rows, heads = pattern.columns, pattern.row_of, source.shape[1]
    # LeakyReLU is increasing, so the largest e_ij of a row comes from its largest s_j: subtracted for stability
    largest = torch.sparse.mm(pattern.ones, source, "amax")
    shift = torch.nn.functional.leaky_relu(largest + target, slope)
    alpha = source.new_empty(heads, pattern.nnz)
    negative = torch.empty(heads, pattern.nnz, dtype=torch.bool)
    for head in range(heads):
        s, t, m = (x[:, head].contiguous() for x in (source, target, shift))
        value = s[columns].add_(t[rows])
        torch.lt(value, 0, out=negative[head])
        torch.nn.functional.leaky_relu_(value, slope).sub_(m[rows]).exp_()
        if not pattern.is_unit:
            value.mul_(pattern.values)
        torch.mul(value, _row_sums(pattern.with_values(value)).reciprocal_()[rows], out=alpha[head])
    return alpha, negative


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        pattern: SparseMatrix,
        z: Tensor,
        source: Tensor,
        target: Tensor,
        bias: Tensor | None,
        slope: float,
        p: float,
        generator: RandomSource | None,
        beta: float,
        reduction: Reduction,
    ) -> Tensor:
        heads = source.shape[1]
        alpha, negative = attention_coefficients(pattern, source, target, slope)
        drawn = random_bytes(alpha.shape, generator, pattern) if p > 0.0 else None
        used = alpha if drawn is None else alpha * keep_factors(drawn, p, alpha.dtype)
        out = _by_heads(pattern.with_values, used, z)
        if bias is not None:
            out += bias
        m = inverse = None
        if beta != 0.0:
            m, inverse = coupling(reduction.total(gram(z[: reduction.owned(len(z))])))
            out.addmm_(z, m, alpha=-beta)
        ctx.save_for_backward(z, alpha, negative, drawn, m, inverse)
        ctx.pattern, ctx.slope, ctx.p, ctx.beta, ctx.has_bias = pattern, slope, p, beta, bias is not None
        ctx.heads, ctx.reduction = heads, reduction
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        z, alpha, negative, drawn, m, inverse = ctx.saved_tensors
        pattern, heads, u = ctx.pattern, ctx.heads, gradients[0].contiguous()
        factors = None if drawn is None else keep_factors(drawn, ctx.p, alpha.dtype)
        used = alpha if factors is None else alpha * factors
        dz = _by_heads(pattern.transposed_with_values, used, u)
        if m is not None:
            dz.addmm_(u, m.t(), alpha=-ctx.beta)
            dm = ctx.reduction.of("gradient").total((z.t() @ u).mul_(-ctx.beta))
            own = ctx.reduction.owned(len(z))  # a row counts once in G, where it is owned
            dz[:own].addmm_(z[:own], gram_gradient(dm, m, inverse))
        d_source, d_target = z.new_empty(len(z), heads), z.new_empty(len(u), heads)
        u_heads, z_heads = _split(u, heads), _split(z, heads)
        for head in range(heads):
            a = alpha[head]
            d_alpha = torch.sparse.sampled_addmm(pattern.ones, u_heads[head], z_heads[head].t(), beta=0.0).values()
            if factors is not None:
                d_alpha.mul_(factors[head])
            d_score = d_alpha.mul_(a)
            d_score.addcmul_(a, _row_sums(pattern.with_values(d_score))[pattern.row_of], value=-1.0)
            d_score = torch.where(negative[head], d_score * ctx.slope, d_score)
            d_target[:, head] = _row_sums(pattern.with_values(d_score))
            d_source[:, head] = _row_sums(pattern.transposed_with_values(d_score))
        d_bias = u.sum(dim=0) if ctx.has_bias else None
        return None, dz, d_source, d_target, d_bias, None, None, None, None, None


def _by_heads(matrix: Callable[[Tensor], Tensor], values: Tensor, dense: Tensor) -> Tensor:
    """For each head its sparse matrix times its block of columns, side by side again (n, heads·c)."""
    heads = len(values)
    if heads == 1:
        return product(matrix(values[0]), dense)
    return _joined(torch.stack([product(matrix(values[i]), block) for i, block in enumerate(_split(dense, heads))]))


def attend(
    pattern: SparseMatrix,
    z: Tensor,
    source: Tensor,
    target: Tensor,
    slope: float = 0.2,
    p: float = 0.0,
    generator: RandomSource | None = None,
    beta: float = 0.0,
    bias: Tensor | None = None,
    reduction: Reduction = ALONE,
) -> Tensor:
    """Σ_j α_ij·Z_j for every node and head, heads side by side, − β·Z̃Z̃ᵀZ + bias.

    Args:
        pattern: n×m CSR; for GAT the adjacency with self-loops, or some of its rows. n = m unless β = 0.
        z: (m, heads·c), the heads in consecutive blocks of columns.
        source: (m, heads) scores s = Z_h·a_src.
        target: (n, heads) scores t = Z_h·a_dst.
        slope: of the LeakyReLU.
        p: dropout rate of the attention coefficients; the caller passes 0 outside training.
        generator: source of the dropout's random bytes; torch's global one if None.
        beta: strength β of the soft orthogonal term.
        bias: (heads·c,) or None.
        reduction: completes the d×d sums over rows, where ``z`` holds some of the rows.

    Returns:
        (n, heads·c).

    >>> from scipy.sparse import csr_array
    >>> pattern = SparseMatrix.from_scipy(csr_array([[1.0, 1.0], [0.0, 1.0]]))
    >>> attend(pattern, torch.tensor([[1.0], [3.0]]), torch.zeros(2, 1), torch.zeros(2, 1))
    tensor([[2.],
            [3.]])
    """
    result: Tensor = _Attend.apply(pattern, z, source, target, bias, slope, p, generator, beta, reduction)
    return result
