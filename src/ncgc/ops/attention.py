"""Graph attention over CSR: one value an edge and head, never edges × features in memory.

For node i, neighbour j and head h, with s = Z_h·a_src and t = Z_h·a_dst,

    e_ij = LeakyReLU(s_j + t_i),   α_ij = w_ij·exp(e_ij) / Σ_k w_ik·exp(e_ik),   out_i = Σ_j α_ij·Z_j,

where w are the edge weights (1 in a plain graph, which gives GAT as published). The sum is one sparse product a head
with α as CSR values. Backward, with U = dL/dout: dZ = αᵀU; dα is U·Zᵀ sampled on the pattern; and because
Σ_j α_ij dα_ij = U_i·out_i, the softmax needs no pass over segments.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.ops.dropout import keep_mask
from ncgc.ops.sparse import SparseMatrix, product


def _row_sums(csr: Tensor) -> Tensor:
    return product(csr, torch.ones(csr.shape[1], 1, dtype=csr.dtype)).squeeze(1)


def _by_head(x: Tensor, heads: int) -> Tensor:
    """(n, heads·c) → contiguous (heads, n, c)."""
    n, width = x.shape
    return x.view(n, heads, width // heads).transpose(0, 1).contiguous()


def _joined(x: Tensor) -> Tensor:
    """(heads, n, c) → contiguous (n, heads·c)."""
    heads, n, width = x.shape
    return x.transpose(0, 1).reshape(n, heads * width)


def attention_values(pattern: SparseMatrix, source: Tensor, target: Tensor, slope: float = 0.2) -> Tensor:
    """α (heads, nnz): softmax over each CSR row of LeakyReLU(source_j + target_i), weighted by the pattern's values.

    Args:
        pattern: n×n, row i lists the nodes that i attends to.
        source, target: (n, heads) scores of a node as the one looked at and as the one looking.
    """
    columns, rows = pattern.columns, pattern.row_of
    ones = pattern.with_values(torch.ones_like(pattern.values))
    # LeakyReLU is increasing, so the largest e_ij of a row comes from its largest s_j: subtracted for stability
    largest = torch.sparse.mm(ones, source, "amax")
    shift = torch.nn.functional.leaky_relu(largest + target, slope)
    alpha = source.new_empty(source.shape[1], pattern.nnz)
    for head in range(source.shape[1]):
        s, t, m = (x[:, head].contiguous() for x in (source, target, shift))
        value = (
            torch.nn.functional.leaky_relu_(s[columns].add_(t[rows]), slope).sub_(m[rows]).exp_().mul_(pattern.values)
        )
        alpha[head] = value.mul_(_row_sums(pattern.with_values(value)).reciprocal_()[rows])
    return alpha


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        pattern: SparseMatrix,
        z: Tensor,
        source: Tensor,
        target: Tensor,
        slope: float,
        p: float,
        generator: torch.Generator | None,
    ) -> Tensor:
        heads = source.shape[1]
        alpha = attention_values(pattern, source, target, slope)
        mask, scale = keep_mask(alpha.shape, p, generator) if p > 0.0 else (None, 1.0)
        used = alpha if mask is None else (alpha * mask).mul_(scale)
        z_heads = _by_head(z, heads)
        out = torch.empty_like(z_heads)
        for head in range(heads):
            torch.addmm(out[head], pattern.with_values(used[head]), z_heads[head], beta=0.0, out=out[head])
        joined = _joined(out)
        ctx.save_for_backward(z, source, target, alpha, joined, mask)
        ctx.pattern, ctx.slope, ctx.scale = pattern, slope, scale
        return joined

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        z, source, target, alpha, out, mask = ctx.saved_tensors
        pattern: SparseMatrix = ctx.pattern
        columns, rows, heads = pattern.columns, pattern.row_of, alpha.shape[0]
        u_heads, z_heads = _by_head(gradients[0], heads), _by_head(z, heads)
        along = (gradients[0] * out).view(len(z), heads, -1).sum(dim=2)  # (n, heads): Σ_j α_ij dα_ij
        dz = torch.empty_like(z_heads)
        d_source, d_target = torch.empty_like(source), torch.empty_like(target)
        zeros = pattern.with_values(torch.zeros_like(pattern.values))
        for head in range(heads):
            u, a = u_heads[head], alpha[head]
            used = a if mask is None else (a * mask[head]).mul_(ctx.scale)
            torch.addmm(dz[head], pattern.transposed_with_values(used), u, beta=0.0, out=dz[head])
            d_alpha = torch.sparse.sampled_addmm(zeros, u, z_heads[head].t(), beta=0.0).values()
            if mask is not None:
                d_alpha.mul_(mask[head]).mul_(ctx.scale)
            d_score = d_alpha.sub_(along[:, head].contiguous()[rows]).mul_(a)
            score = source[:, head].contiguous()[columns].add_(target[:, head].contiguous()[rows])
            d_score = torch.ops.aten.leaky_relu_backward(d_score, score, ctx.slope, False)
            d_target[:, head] = _row_sums(pattern.with_values(d_score))
            d_source[:, head] = _row_sums(pattern.transposed_with_values(d_score))
        return None, _joined(dz), d_source, d_target, None, None, None


def attend(
    pattern: SparseMatrix,
    z: Tensor,
    source: Tensor,
    target: Tensor,
    slope: float = 0.2,
    p: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Σ_j α_ij·Z_j for every node and head, heads side by side.

    Args:
        pattern: n×n CSR; for GAT the adjacency with self-loops.
        z: (n, heads·c), the heads in consecutive blocks of columns.
        source, target: (n, heads) scores Z_h·a_src and Z_h·a_dst.
        slope: of the LeakyReLU.
        p: dropout on the attention coefficients; the caller passes 0 outside training.

    >>> from scipy.sparse import csr_array
    >>> pattern = SparseMatrix.from_scipy(csr_array([[1.0, 1.0], [0.0, 1.0]]))
    >>> attend(pattern, torch.tensor([[1.0], [3.0]]), torch.zeros(2, 1), torch.zeros(2, 1))
    tensor([[2.],
            [3.]])
    """
    result: Tensor = _Attend.apply(pattern, z, source, target, slope, p, generator)
    return result
