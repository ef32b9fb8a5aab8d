"""The edge table as a symmetric adjacency, and what had to be done to make it one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy import sparse

from ncgc.errors import InputError
from ncgc.io.cells import numbers
from ncgc.io.ids import id_cells, positions, shown
from ncgc.io.tables import Table


@dataclass(frozen=True)
class Merged:
    """A symmetric adjacency and the counts of what was merged into it.

    Attributes:
        adjacency: n×n CSR float32, no self-loops, of edges given twice the largest weight.
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
    """The adjacency of m edges by the numbers of their ends; one sort serves the counts and the matrix.

    >>> merge(np.array([0, 1, 1, 2]), np.array([1, 0, 2, 2]), None, 3).adjacency.toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    keep = source != target
    low, high = np.minimum(source, target)[keep], np.maximum(source, target)[keep]
    key = (low * n + high) * 2 + (source > target)[keep]  # the last bit is the direction
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
    pointer = np.concatenate([[0], np.cumsum(np.bincount(key // n, minlength=n))])
    upper = sparse.csr_array((values, key % n, pointer), shape=(n, n))
    adjacency = sparse.csr_array(upper + upper.T)
    adjacency.sort_indices()
    return Merged(
        adjacency=adjacency,
        edges=len(source),
        loops=len(source) - int(keep.sum()),
        repeated=int(keep.sum()) - distinct,
        alone=2 * len(starts) - distinct,
    )


def read_edges(
    table: Table,
    nodes: Table,
    ids: pa.ChunkedArray,
    source: str,
    target: str,
    weight: str | None,
    elsewhere: str = "",
) -> Merged:
    """The edges of a table, whose ends are looked up among the ids of the node table (``elsewhere``: and of what else)."""
    ends = [id_cells(table, column, what) for column, what in ((source, "source"), (target, "target"))]
    found = [positions(cells, ids) for cells in ends]
    unknown = (found[0] < 0) | (found[1] < 0)
    if unknown.any():
        raise _unknown(table, nodes, ids, ends, found, unknown, elsewhere)
    weights = None if weight is None else read_weights(table, weight)
    return merge(found[0], found[1], weights, len(ids))


def check_header(table: Table, source: str, target: str, ids: pa.ChunkedArray) -> None:
    """For columns whose names say nothing: raise an InputError if the header is an edge, of a file without one."""
    if (positions(pa.chunked_array([[source, target]]), ids) >= 0).all():
        raise InputError(
            f"{table.name} has no header: its first row holds node ids; add the header source,target above it."
        )


def read_weights(table: Table, name: str) -> np.ndarray:
    """(m,) float32, all above 0."""
    remedy = "give each edge a weight above 0 (1 is the usual one)"
    values = numbers(table, name, remedy)
    with np.errstate(over="ignore"):  # too large for float32 is said below
        small = values.astype(np.float32)
    bad = ~(np.isfinite(small) & (small > 0))
    if bad.any():
        row = int(bad.argmax())
        found = "no weight" if np.isnan(values[row]) else f"the weight {values[row]:g}"
        why = ", too large to compute with" if np.isinf(small[row]) else ", too small" if values[row] > 0 else ""
        raise InputError(f"{table.where(row)}: the edge has {found} (column {name!r}){why}; {remedy}, or remove it.")
    return small


def _unknown(
    table: Table,
    nodes: Table,
    ids: pa.ChunkedArray,
    ends: list[pa.ChunkedArray],
    found: list[np.ndarray],
    unknown: np.ndarray,
    elsewhere: str,
) -> InputError:
    row = int(unknown.argmax())
    cell = ends[0 if found[0][row] < 0 else 1][row]
    others = int(unknown.sum()) - 1
    value = cell.as_py()
    if isinstance(value, str) and positions(pa.chunked_array([[value.strip()]]), ids)[0] >= 0:
        remedy = f"{nodes.name} has {value.strip()!r}: remove the spaces around the id"
    elif others + 1 == len(table):
        remedy = f"no edge joins two of its nodes, whose ids look like {shown(ids[0])}: check which columns are used"
    else:
        remedy = f"add it to {nodes.name} or remove the edge"
    also = f" ({others:,} other edge{'s' * (others > 1)} likewise)" if others else ""
    where = nodes.name + (f" nor in {elsewhere}" if elsewhere else "")
    return InputError(f"{table.where(row)}: unknown node id {shown(cell)} (not in {where}); {remedy}{also}.")


def _starts(key: np.ndarray) -> np.ndarray:
    """Where a sorted key differs from the one before."""
    return np.concatenate([np.ones(min(len(key), 1), dtype=bool), key[1:] != key[:-1]])


def _edges(count: int) -> str:
    return f"{count:,} edge{'s' * (count != 1)}"


def _were(count: int) -> str:
    return "were" if count != 1 else "was"
