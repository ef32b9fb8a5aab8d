"""Propagation: a sparse constant matrix times a dense variable, with the same product for the gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.ops.sparse import SparseMatrix


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor) -> Tensor:
        ctx.matrix = matrix
        return matrix.product(dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix.transposed_product(gradients[0])


def propagate(matrix: SparseMatrix, dense: Tensor) -> Tensor:
    """A·Z, with the gradient Aᵀ·U. For a symmetric A (Â of GCN) the backward pass is the same product.

    Args:
        matrix: n×m, constant.
        dense: Z, m×d.

    >>> from scipy.sparse import csr_array
    >>> propagate(SparseMatrix.from_scipy(csr_array([[0.5, 0.5]])), torch.tensor([[2.0], [4.0]]))
    tensor([[3.]])
    """
    result: Tensor = _Propagate.apply(matrix, dense)
    return result


class _PersonalisedPageRank(torch.autograd.Function):
    """A polynomial in A: its gradient is the same polynomial in Aᵀ, so no step has to be remembered."""

    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor, alpha: float, steps: int) -> Tensor:
        ctx.matrix, ctx.alpha, ctx.steps = matrix, alpha, steps
        return _steps(matrix.added, dense, alpha, steps)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, None, None]:
        return None, _steps(ctx.matrix.added_transposed, gradients[0], ctx.alpha, ctx.steps), None, None


def _steps(added: Callable[..., Tensor], start: Tensor, alpha: float, steps: int) -> Tensor:
    h = start
    for _ in range(steps):
        h = added(start, h, beta=alpha, alpha=1.0 - alpha)
    return h


def personalised_pagerank(matrix: SparseMatrix, dense: Tensor, alpha: float = 0.1, steps: int = 10) -> Tensor:
    """APPNP's propagation: H⁰ = Z, Hᵏ⁺¹ = (1−α)·Â·Hᵏ + α·Z, ``steps`` times. O(n·d) memory whatever the steps.

    Args:
        matrix: Â, n×n, constant.
        dense: Z, n×d.
        alpha: chance to return to the start.
    """
    result: Tensor = _PersonalisedPageRank.apply(matrix, dense, alpha, steps)
    return result
