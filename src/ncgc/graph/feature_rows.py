"""A feature matrix, CSR or dense, as dense, its mean, and its rows brought to one size."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ncgc.graph.validation import Features


def as_dense(features: Features) -> np.ndarray:
    """(n, D) the matrix itself, or a CSR one written out."""
    dense: np.ndarray = features.toarray() if sparse.issparse(features) else features
    return dense


def column_mean(features: Features) -> np.ndarray:
    """(D,) float32 mean of every column, summed in doubles."""
    mean: np.ndarray = as_dense(features).mean(axis=0, dtype=np.float64).astype(np.float32)
    return mean


def normalised_rows(features: Features, norm: str = "sum") -> Features:
    """n×D with every row divided by its sum of absolute values ("sum") or by its Euclidean length ("length").

    Zero rows stay zero; CSR stays CSR.

    >>> normalised_rows(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    if sparse.issparse(features):
        n = features.shape[0]
        scaled = features.copy()
        scaled.data = _divided(features.data, np.repeat(np.arange(n), np.diff(features.indptr)), n, norm)
        return scaled
    largest = abs(features).max(axis=1, keepdims=True, initial=0)
    part = features / np.where(largest > 0, largest, 1)
    sizes = (abs(part) if norm == "sum" else part**2).sum(axis=1, keepdims=True, dtype=np.float64)
    sizes = (np.sqrt(sizes) if norm == "length" else sizes).astype(features.dtype)
    return np.multiply(part, np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0), out=part)


def _divided(values: np.ndarray, rows: np.ndarray, n: int, norm: str) -> np.ndarray:
    """Values divided by the sum of absolute values, or the length, of their row; rows are given for each value.

    Divided by the row's largest first, so that neither sums nor squares overflow.
    """
    largest = np.zeros(n, dtype=values.dtype)
    np.maximum.at(largest, rows, abs(values))
    part = values / np.where(largest > 0, largest, 1)[rows]
    sizes = np.bincount(rows, weights=abs(part) if norm == "sum" else part**2, minlength=n)
    sizes = (np.sqrt(sizes) if norm == "length" else sizes).astype(values.dtype)
    divided: np.ndarray = part * np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)[rows]
    return divided
