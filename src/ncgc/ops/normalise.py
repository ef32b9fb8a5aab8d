"""The propagation matrices of the field, from a symmetric adjacency without self-loops (scipy CSR in, scipy CSR out)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

ROWS = 100_000  # that are normalised at a time


def with_self_loops(adjacency: sparse.csr_array) -> sparse.csr_array:
    """A + I.

    >>> with_self_loops(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray()
    array([[1., 1.],
           [1., 1.]])
    """
    result = sparse.csr_array(adjacency + sparse.eye_array(adjacency.shape[0], dtype=adjacency.dtype, format="csr"))
    result.sort_indices()
    return result


def gcn_normalised(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Â = D̃^-1/2 (A+I) D̃^-1/2 with D̃ the (weighted) degrees of A+I: symmetric, spectrum in (-1, 1].

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
    """Stretches of rows and of their entries: what is computed in doubles is never as long as the matrix."""
    n = matrix.shape[0]
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        yield slice(start, stop), slice(int(matrix.indptr[start]), int(matrix.indptr[stop]))
