"""Dropout by comparing random bytes, several times faster on a CPU than one Bernoulli number per entry.

The generator gives 64 bits at a time, read as eight bytes; an entry is kept when its byte is at least the threshold
round(256·p). The drop rate is therefore p rounded to a multiple of 1/256, and kept entries are scaled by the rate
actually used, so that the expectation is exact.

The input is multiplied by float factors 0 and 1/(1−p), which the comparison writes directly: a product of floats and
booleans takes three times as long.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.ops.row_generator import RandomSource, RowGenerator
from ncgc.ops.sparse import SparseMatrix


def _threshold(p: float) -> int:
    return min(max(round(256 * p), 1 if p > 0 else 0), 255)


def kept_scale(p: float) -> float:
    """The factor 1/(1−p) of the entries that dropout keeps.

    Args:
        p: drop rate, in [0, 1), rounded to 1/256 as the random bytes do.

    Returns:
        The factor for the rounded rate; 1 for p = 0.
    """
    return 256.0 / (256 - _threshold(p))


def keep_mask(
    shape: torch.Size | tuple[int, ...],
    p: float,
    generator: RandomSource | None = None,
    pattern: SparseMatrix | None = None,
) -> tuple[Tensor, float]:
    """A boolean keep mask and the scale 1/(1−p) for kept entries.

    Args:
        shape: of the mask.
        p: drop rate, in [0, 1).
        generator: source of the random bytes; torch's global one if None.
        pattern: the sparse matrix whose entries the mask is for: n×D with ``shape`` (nnz,), or n×n with (heads, nnz). A
            RowGenerator needs it to know the rows.

    Returns:
        Boolean tensor of the shape, and the scale.

    >>> mask, scale = keep_mask((1000, 100), 0.5, torch.Generator().manual_seed(0))
    >>> scale, abs(mask.float().mean().item() - 0.5) < 0.01
    (2.0, True)
    """
    return random_bytes(shape, generator, pattern) >= _threshold(p), kept_scale(p)


def random_bytes(
    shape: torch.Size | tuple[int, ...], generator: RandomSource | None = None, pattern: SparseMatrix | None = None
) -> Tensor:
    """One random byte per entry, for :func:`keep_mask` and :func:`keep_factors` to compare with the rate.

    Args:
        shape: of the result.
        generator: source of the random bytes; torch's global one if None.
        pattern: as in :func:`keep_mask`.

    Returns:
        uint8 tensor of the shape.
    """
    if isinstance(generator, RowGenerator):
        if pattern is None:
            return generator.bytes(shape)
        if len(shape) == 1:
            return generator.entry_bytes(pattern)
        return torch.stack([generator.edge_bytes(pattern) for _ in range(shape[0])])
    size = 1
    for length in shape:
        size *= length
    words = torch.empty((size + 7) // 8, dtype=torch.int64).random_(-(2**63), None, generator=generator)
    return words.view(torch.uint8)[:size].view(shape)


def keep_factors(drawn: Tensor, p: float, dtype: torch.dtype = torch.float32) -> Tensor:
    """Factors 0 where an entry is dropped and 1/(1−p) where it is kept.

    Args:
        drawn: result of :func:`random_bytes`.
        p: drop rate, in [0, 1).
        dtype: of the factors.

    Returns:
        Tensor of the shape of ``drawn``.

    >>> keep_factors(torch.tensor([0, 255], dtype=torch.uint8), 0.5)
    tensor([0., 2.])
    """
    factors = torch.empty(drawn.shape, dtype=dtype)
    return torch.ge(drawn, _threshold(p), out=factors).mul_(kept_scale(p))


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float, generator: RandomSource | None) -> Tensor:
        drawn = random_bytes(x.shape, generator)
        ctx.save_for_backward(drawn)
        ctx.p = p
        return x * keep_factors(drawn, p, x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (drawn,) = ctx.saved_tensors
        return gradients[0] * keep_factors(drawn, ctx.p, gradients[0].dtype), None, None


class _ReluDropout(torch.autograd.Function):
    """Keeps only its output: an entry is positive exactly where the ReLU was open and the entry kept."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float, generator: RandomSource | None) -> Tensor:
        y = torch.relu(x).mul_(keep_factors(random_bytes(x.shape, generator), p, x.dtype))
        ctx.save_for_backward(y)
        ctx.scale = kept_scale(p)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (y,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(gradients[0], y, 0).mul_(ctx.scale), None, None


def dropout(x: Tensor, p: float, generator: RandomSource | None = None, training: bool = True) -> Tensor:
    """Zero each entry with probability p and scale the others by 1/(1−p).

    Args:
        x: any shape.
        p: drop rate, in [0, 1).
        generator: source of the random bytes; torch's global one if None.
        training: False gives x itself, as does p = 0.

    Returns:
        Of the shape of x.
    """
    if not training or p == 0.0:
        return x
    result: Tensor = _Dropout.apply(x, p, generator)
    return result


def relu_dropout(x: Tensor, p: float, generator: RandomSource | None = None, training: bool = True) -> Tensor:
    """dropout(relu(x)) in fewer passes over memory; only the output is kept for the gradient.

    Args:
        x: any shape.
        p: drop rate, in [0, 1).
        generator: source of the random bytes; torch's global one if None.
        training: False gives relu(x), as does p = 0.

    Returns:
        Of the shape of x.
    """
    if not training or p == 0.0:
        return torch.relu(x)
    result: Tensor = _ReluDropout.apply(x, p, generator)
    return result
