"""Edges merged into a symmetric adjacency, and what had to be done to make them one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

LARGEST = 2**31 - 1  # that an int32 holds


@dataclass(frozen=True)
class Merged:
    """A symmetric adjacency and the counts of what was merged into it.

    Attributes:
        adjacency: n×n CSR float32, no self-loops, of edges given twice the largest weight; indices int32 where they fit.
        edges: how many were given, loops: how many of them joined a node to itself.
        repeated: how many were given before in the same direction.
        alone: how many (of those given once) had no counterpart in the other direction.
    """

    adjacency: sparse.csr_array
    edges: int
    loops: int
    repeated: int
    alone: int

    def notes(self, name: str, directed: bool = True) -> list[str]:
        """Sentences for the screen."""
        told = []
        if self.loops:
            told.append(f"{_edges(self.loops)} of {name} joined a node to itself and {_were(self.loops)} dropped.")
        if self.repeated:
            told.append(f"{_edges(self.repeated)} of {name} {_were(self.repeated)} given more than once and merged.")
        pairs = self.adjacency.nnz // 2
        if not pairs:
            told.append(f"No edge of {name} joins two different nodes, so labels follow from the features alone.")
        if directed and 0 < self.alone < pairs:
            given = self.edges - self.loops - self.repeated
            told.append(
                f"Edges are taken as undirected: {self.alone:,} of {given:,} in {name} had no counterpart "
                "in the other direction."
            )
        elif directed and self.alone:
            told.append(f"Edges are taken as undirected; each was given in one direction only in {name}.")
        return told


def merge(source: np.ndarray, target: np.ndarray, weights: np.ndarray | None, n: int) -> Merged:
    """The adjacency of m edges by the (m,) numbers of their ends; one sort serves the counts and the matrix.

    An edge is one number: the smaller end, the larger end, and in the last bit the direction.

    >>> merge(np.array([0, 1, 1, 2]), np.array([1, 0, 2, 2]), None, 3).adjacency.toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    keep = source != target
    low, high = (pick(source, target, dtype=np.int64)[keep] for pick in (np.minimum, np.maximum))
    bits = int(n).bit_length()  # of an end; below 2^31 nodes an edge fits into int64
    key = (low << bits + 1) | (high << 1) | (source > target)[keep]
    if weights is None:
        key = np.sort(key)
        values = np.ones(len(key), dtype=np.float32)
    else:
        order = np.argsort(key)
        key, values = key[order], weights[keep][order].astype(np.float32)
    distinct = int(_starts(key).sum())
    key = key >> 1
    starts = np.flatnonzero(_starts(key))
    values = np.maximum.reduceat(values, starts) if len(starts) else values
    key = key[starts]
    pointer = np.concatenate([[0], np.cumsum(np.bincount(key >> bits, minlength=n))])
    index = np.int32 if max(n, 2 * len(key)) <= LARGEST else np.int64  # half the memory, and sooner summed
    columns = (key & ((1 << bits) - 1)).astype(index)
    upper = sparse.csr_array((values, columns, pointer.astype(index)), shape=(n, n))
    adjacency = sparse.csr_array(upper + upper.T)
    adjacency.sort_indices()
    return Merged(
        adjacency=adjacency,
        edges=len(source),
        loops=len(source) - int(keep.sum()),
        repeated=int(keep.sum()) - distinct,
        alone=2 * len(starts) - distinct,
    )


def _starts(key: np.ndarray) -> np.ndarray:
    """Where a sorted key differs from the one before."""
    return np.concatenate([np.ones(min(len(key), 1), dtype=bool), key[1:] != key[:-1]])


def _edges(count: int) -> str:
    return f"{count:,} edge{'s' * (count != 1)}"


def _were(count: int) -> str:
    return "were" if count != 1 else "was"
