"""A symmetric adjacency matrix from a list of edges, with counts of what was dropped or merged on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

LARGEST = 2**31 - 1  # of an int32


@dataclass(frozen=True)
class MergedEdges:
    """A symmetric adjacency and the counts of what was merged into it.

    Attributes:
        adjacency: n×n symmetric CSR, float32, no self-loops; a repeated edge has its largest weight. Indices are int32
            where they fit.
        edges: number of edges given.
        loops: how many of them joined a node to itself.
        repeated: how many came before in the same direction.
        one_way: how many distinct edges have no counterpart in the other direction.
    """

    adjacency: sparse.csr_array
    edges: int
    loops: int
    repeated: int
    one_way: int

    def notes(self, name: str, directed: bool = True) -> list[str]:
        """Sentences on what was dropped or merged.

        Args:
            name: what to call the source of the edges, such as a file's name.
            directed: whether to mention edges given in one direction only.

        Returns:
            The sentences; empty where the edges were clean.
        """
        notes = []
        if self.loops:
            notes.append(f"{_edges(self.loops)} of {name} joined a node to itself and {_were(self.loops)} dropped.")
        if self.repeated:
            notes.append(f"{_edges(self.repeated)} of {name} {_were(self.repeated)} given more than once and merged.")
        pairs = self.adjacency.nnz // 2
        if not pairs:
            notes.append(f"No edge of {name} joins two different nodes, so labels follow from the features alone.")
        if directed and 0 < self.one_way < pairs:
            given = self.edges - self.loops - self.repeated
            notes.append(
                f"Edges are taken as undirected: {self.one_way:,} of {given:,} in {name} had no counterpart "
                "in the other direction."
            )
        elif directed and self.one_way:
            notes.append(f"Edges are taken as undirected; each was given in one direction only in {name}.")
        return notes


def merge_edges(source: np.ndarray, target: np.ndarray, weights: np.ndarray | None, n: int) -> MergedEdges:
    """Merge m edges into a symmetric adjacency; one sort serves both the counts and the matrix.

    Each edge is packed into one integer: the smaller end, the larger end, and the direction in the last bit.

    Args:
        source: (m,) node numbers.
        target: (m,) node numbers.
        weights: (m,) positive weights; None for 1 everywhere.
        n: number of nodes, below 2³¹.

    Returns:
        The adjacency and the counts.

    >>> merge_edges(np.array([0, 1, 1, 2]), np.array([1, 0, 2, 2]), None, 3).adjacency.toarray()
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
    index = np.int32 if max(n, 2 * len(key)) <= LARGEST else np.int64  # half the memory, and faster to add
    columns = (key & ((1 << bits) - 1)).astype(index)
    upper = sparse.csr_array((values, columns, pointer.astype(index)), shape=(n, n))
    adjacency = sparse.csr_array(upper + upper.T)
    adjacency.sort_indices()
    return MergedEdges(
        adjacency=adjacency,
        edges=len(source),
        loops=len(source) - int(keep.sum()),
        repeated=int(keep.sum()) - distinct,
        one_way=2 * len(starts) - distinct,
    )


def symmetric_adjacency(pairs: np.ndarray, weights: np.ndarray, n: int) -> sparse.csr_array:
    """The symmetric adjacency of a list of edges: no self-loops, the largest weight of duplicates in either direction.

    Args:
        pairs: (m, 2) node numbers.
        weights: (m,) positive weights.
        n: number of nodes.

    Returns:
        n×n CSR, float32.
    """
    plain = bool((weights == 1).all())  # integers alone sort faster than integers with weights
    return merge_edges(pairs[:, 0], pairs[:, 1], None if plain else weights, n).adjacency


def _starts(key: np.ndarray) -> np.ndarray:
    """Where a sorted key differs from the one before."""
    return np.concatenate([np.ones(min(len(key), 1), dtype=bool), key[1:] != key[:-1]])


def _edges(count: int) -> str:
    return f"{count:,} edge{'s' * (count != 1)}"


def _were(count: int) -> str:
    return "were" if count != 1 else "was"
