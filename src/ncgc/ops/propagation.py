"""Propagation: the matrices of the field, and their products with hidden states.

The matrices are made from a symmetric adjacency A without self-loops, scipy CSR in and out. The products take them as
constants: the gradient of P·Z is Pᵀ·U, one more sparse product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.ops.sparse import SparseMatrix

_ROWS = 100_000  # normalised at a time


def with_self_loops(adjacency: sparse.csr_array) -> sparse.csr_array:
    """A + I, as CSR with sorted columns.

    Args:
        adjacency: A, n×n without self-loops.

    Returns:
        n×n.

    >>> with_self_loops(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray()
    array([[1., 1.],
           [1., 1.]])
    """
    result = sparse.csr_array(adjacency + sparse.eye_array(adjacency.shape[0], dtype=adjacency.dtype, format="csr"))
    result.sort_indices()
    return result


def gcn_normalised(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Â = D̃^-1/2 (A+I) D̃^-1/2 with D̃ the (weighted) degrees of A+I: symmetric, spectrum in (-1, 1].

    Args:
        adjacency: A, n×n, symmetric, without self-loops.

    Returns:
        Â, n×n with self-loops.

    >>> gcn_normalised(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    looped = with_self_loops(adjacency)
    scale = 1.0 / np.sqrt(np.asarray(looped.sum(axis=1), dtype=np.float64).reshape(-1))
    for rows, entries in _row_blocks(looped):
        own = np.repeat(scale[rows], np.diff(looped.indptr[rows.start : rows.stop + 1]))
        looped.data[entries] = looped.data[entries] * own * scale[looped.indices[entries]]
    return looped


def mean_normalised(adjacency: sparse.csr_array) -> sparse.csr_array:
    """D^-1 A: row i averages over the neighbours of i, weighted if the edges are; the row of an isolated node is empty.

    Args:
        adjacency: A, n×n without self-loops.

    Returns:
        n×n, in general not symmetric.

    >>> mean_normalised(sparse.csr_array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])).toarray()[0]
    array([0. , 0.5, 0.5])
    """
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).reshape(-1)
    scale = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    result = sparse.csr_array(adjacency.copy())
    for rows, entries in _row_blocks(result):
        result.data[entries] = result.data[entries] * np.repeat(
            scale[rows], np.diff(result.indptr[rows.start : rows.stop + 1])
        )
    return result


def _row_blocks(matrix: sparse.csr_array) -> Iterator[tuple[slice, slice]]:
    """Blocks of rows and of their entries, so that temporary float64 arrays stay smaller than the matrix."""
    n = matrix.shape[0]
    for start in range(0, n, _ROWS):
        stop = min(start + _ROWS, n)
        yield slice(start, stop), slice(int(matrix.indptr[start]), int(matrix.indptr[stop]))


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
    """P·Z, with the gradient Pᵀ·U. For a symmetric P (Â of GCN) the backward pass is the same product.

    Args:
        matrix: P, n×m, constant.
        dense: Z, (m, d).

    Returns:
        (n, d).

    >>> from scipy.sparse import csr_array
    >>> propagate(SparseMatrix.from_scipy(csr_array([[0.5, 0.5]])), torch.tensor([[2.0], [4.0]]))
    tensor([[3.]])
    """
    result: Tensor = _Propagate.apply(matrix, dense)
    return result


class _PersonalisedPageRank(torch.autograd.Function):
    """A polynomial in Â: its gradient is the same polynomial in Âᵀ, so no step has to be stored."""

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
    """APPNP's propagation: H⁰ = Z, Hᵏ⁺¹ = (1−α)·Â·Hᵏ + α·Z. O(n·d) memory for any number of steps.

    Args:
        matrix: Â, n×n, constant.
        dense: Z, (n, d).
        alpha: teleport probability α.
        steps: number of propagations.

    Returns:
        (n, d).
    """
    result: Tensor = _PersonalisedPageRank.apply(matrix, dense, alpha, steps)
    return result
