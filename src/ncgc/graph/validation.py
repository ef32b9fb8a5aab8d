"""What people pass for edges, features and labels, turned into checked arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from ncgc.errors import GraphError
from ncgc.graph.adjacency import merge

ENTRIES = 1 << 22  # of a block of features that are looked at together

Features: TypeAlias = Any  # np.ndarray or scipy.sparse.csr_array; scipy ships no types


def as_edges(edges: Any, n: int) -> np.ndarray:
    pairs = as_array(edges, "Edges", "an (m, 2) array of node numbers")
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise GraphError(
            f"Edges must be an (m, 2) array of node numbers. Got the shape {pairs.shape} instead"
            + ("; transpose a PyG edge_index first." if pairs.ndim == 2 and pairs.shape[0] == 2 else ".")
        )
    if not is_whole(pairs):
        raise GraphError(f"Edges must be whole node numbers from 0 to {n - 1}. Got the type {pairs.dtype} instead.")
    pairs = pairs.astype(np.int64)
    bad = ((pairs < 0) | (pairs >= n)).any(axis=1)
    if bad.any():
        where = int(bad.argmax())
        raise GraphError(
            f"Edge {where} joins nodes {pairs[where, 0]} and {pairs[where, 1]}, but the nodes are numbered 0 to {n - 1}; "
            "remove the edge or add the missing node."
        )
    return pairs


def as_weights(weights: Any, m: int) -> np.ndarray:
    if weights is None:
        return np.ones(m, dtype=np.float32)
    values = as_array(weights, "Edge weights", "numbers, one an edge").reshape(-1)
    if not np.issubdtype(values.dtype, np.number):
        raise GraphError(f"Edge weights must be numbers, one an edge. Got the type {values.dtype} instead.")
    values = values.astype(np.float32)
    if len(values) != m:
        raise GraphError(f"There are {len(values)} edge weights for {m} edges; give one an edge.")
    bad = ~(np.isfinite(values) & (values > 0))
    if bad.any():
        where = int(bad.argmax())
        raise GraphError(
            f"Edge {where} has the weight {values[where]}; weights must be finite and above 0 (drop the edge to remove it)."
        )
    return values


def symmetric_adjacency(pairs: np.ndarray, values: np.ndarray, n: int) -> sparse.csr_array:
    """n×n symmetric CSR of (m, 2) edges: no self-loops, of duplicate edges (either direction) the largest weight."""
    plain = bool((values == 1).all())  # numbers alone sort sooner than numbers with weights
    return merge(pairs[:, 0], pairs[:, 1], None if plain else values, n).adjacency


def as_features(features: Any) -> Features:
    if sparse.issparse(features):
        with np.errstate(
            over="ignore"
        ):  # too large for float32 becomes infinite, which the graph refuses with its place
            matrix = sparse.csr_array(features, dtype=np.float32)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix
    try:
        with np.errstate(over="ignore"):
            dense = np.ascontiguousarray(features, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise GraphError(f"The features must be numbers, one row a node ({error}).") from None
    if dense.ndim != 2:
        raise GraphError(f"The features must be an (n, D) array. Got the shape {dense.shape} instead.")
    return dense


def as_labels(labels: Any, n: int) -> np.ndarray:
    if labels is None:
        return np.full(n, -1, dtype=np.int64)
    array = as_array(labels, "Labels", "whole class indices, one a node")
    if array.ndim != 1 or len(array) != n:
        raise GraphError(
            f"There are labels of the shape {array.shape} for {n} nodes; give one a node, -1 where unknown."
        )
    if not is_whole(array):
        raise GraphError(f"Labels must be whole class indices, -1 for unknown. Got the type {array.dtype} instead.")
    return array.astype(np.int64)


def row_blocks(rows: int, columns: int) -> Iterator[slice]:
    """Rows a few at a time, some 4 million entries: what is read of a file that lies on disk before it is let go."""
    step = max(ENTRIES // max(columns, 1), 1)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def all_finite(features: Features) -> bool:
    """Whether every feature is a finite number; dense ones, which may be memory-mapped, are looked at in blocks."""
    if sparse.issparse(features):
        return bool(np.isfinite(features.data).all())
    return all(bool(np.isfinite(features[rows]).all()) for rows in row_blocks(*features.shape))


def first_not_finite(features: Features) -> tuple[int, int]:
    if sparse.issparse(features):
        at = int((~np.isfinite(features.data)).argmax())
        return int(np.searchsorted(features.indptr, at, side="right")) - 1, int(features.indices[at])
    for rows in row_blocks(*features.shape):
        found = np.argwhere(~np.isfinite(features[rows]))
        if len(found):
            return int(found[0][0]) + rows.start, int(found[0][1])
    raise GraphError("Every feature is a finite number.")


def listed(names: np.ndarray, most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most].tolist())
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def is_whole(array: np.ndarray) -> bool:
    """Whether every entry is a whole number, whatever the type."""
    if np.issubdtype(array.dtype, np.integer):
        return True
    return bool(
        np.issubdtype(array.dtype, np.floating) and np.isfinite(array).all() and (array == np.floor(array)).all()
    )


def as_array(given: Any, what: str, expected: str) -> np.ndarray:
    """numpy's array of anything, with a sentence where numpy finds no shape."""
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:
        raise GraphError(
            f"{what} must be {expected}; rows of different lengths or kinds were given ({error})."
        ) from None
