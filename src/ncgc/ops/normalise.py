"""The propagation matrices of the field, from a symmetric adjacency without self-loops (scipy CSR in, scipy CSR out)."""

from __future__ import annotations

import numpy as np
from scipy import sparse


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
    rows = np.repeat(np.arange(looped.shape[0]), np.diff(looped.indptr))
    looped.data = (looped.data * scale[rows] * scale[looped.indices]).astype(adjacency.dtype)
    return looped


def mean_normalised(adjacency: sparse.csr_array) -> sparse.csr_array:
    """D^-1 A: row i averages over the neighbours of i, weighted if the edges are; the row of an isolated node is empty.

    >>> mean_normalised(sparse.csr_array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])).toarray()[0]
    array([0. , 0.5, 0.5])
    """
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).reshape(-1)
    scale = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    result = sparse.csr_array(adjacency.copy())
    rows = np.repeat(np.arange(result.shape[0]), np.diff(result.indptr))
    result.data = (result.data * scale[rows]).astype(adjacency.dtype)
    return result
