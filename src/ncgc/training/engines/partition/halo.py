"""Ownership: the nodes that a process or a part owns. Part: these with their halo, the neighbours that propagation to them needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from ncgc.errors import ParameterError
from ncgc.ops import ALONE, Reduction


@dataclass(frozen=True, eq=False)
class Ownership:
    """Some nodes of a graph, and how sums over them become sums over all.

    Attributes:
        owned: (m,) their numbers in the graph, ascending; None for all nodes.
        reduction: of sums over them.

    >>> Ownership(np.array([2, 5, 7])).local(np.array([1, 5, 2]))
    (array([1, 0]), array([False,  True,  True]))
    """

    owned: np.ndarray | None = None
    reduction: Reduction = field(default=ALONE)

    @cached_property
    def _owned(self) -> np.ndarray:
        assert self.owned is not None
        return self.owned

    def local(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the owned ones among some nodes.

        Args:
            nodes: (k,) by their number in the graph.

        Returns:
            The local numbers of those that are owned, in the order given, and a (k,) mask of them.
        """
        if self.owned is None:
            return nodes, np.ones(len(nodes), dtype=bool)
        if len(self._owned) < len(nodes) and bool((nodes[1:] > nodes[:-1]).all()):
            # a small part among many sorted nodes: search for the owned nodes among these, which takes fewer searches
            there = np.searchsorted(nodes, self._owned)
            inside = there < len(nodes)
            inside[inside] = nodes[there[inside]] == self._owned[inside]
            mine = np.zeros(len(nodes), dtype=bool)
            mine[there[inside]] = True
            return np.flatnonzero(inside), mine
        place = np.searchsorted(self._owned, nodes)
        mine = place < len(self._owned)
        mine[mine] = self._owned[place[mine]] == nodes[mine]
        return place[mine], mine


WHOLE = Ownership()


@dataclass(frozen=True, eq=False)
class Part:
    """Nodes of a graph in a local order: the owned ones first, then the halo; both ascending within each hop.

    Attributes:
        owned: (m,) global numbers of the nodes that count here.
        halo: (h,) global numbers of the others that are seen, nearest hop first.
        inner: how many of all these nodes, the first ones, have all their neighbours here. With one hop those are the
            owned ones; with more, all but the outermost hop.
        within: how many of these nodes, the first ones, are at most 0, 1, … edges away.
    """

    owned: np.ndarray
    halo: np.ndarray
    inner: int
    within: tuple[int, ...] = ()

    @property
    def nodes(self) -> np.ndarray:
        """(m+h,) global numbers in the local order."""
        return np.concatenate([self.owned, self.halo])

    def __repr__(self) -> str:
        return f"Part(owned={len(self.owned)}, halo={len(self.halo)})"


def make_part(adjacency: sparse.csr_array, owned: np.ndarray, hops: int = 1) -> Part:
    """The owned nodes with all nodes at most ``hops`` edges away.

    Args:
        adjacency: n×n symmetric CSR.
        owned: (m,) nodes, ascending.
        hops: of the halo.

    Returns:
        The part; its halo is empty with 0 hops.

    >>> chain = sparse.csr_array(np.eye(5, k=1) + np.eye(5, k=-1))
    >>> make_part(chain, np.array([0, 1]), hops=2).halo
    array([2, 3])
    """
    if hops < 0:
        raise ParameterError(f"The 'hops' of a part must be an int in the range [0, inf). Got {hops} instead.")
    seen = np.zeros(adjacency.shape[0], dtype=bool)
    seen[owned] = True
    rings, inner = [], len(owned)
    edge = owned
    for hop in range(hops):
        touched = np.zeros_like(seen)
        touched[adjacency[edge].indices] = True
        edge = np.flatnonzero(touched & ~seen)
        seen[edge] = True
        rings.append(edge)
        if hop < hops - 1:
            inner += len(edge)
    halo = np.concatenate(rings) if rings else np.zeros(0, dtype=np.int64)
    within = np.cumsum([len(owned), *map(len, rings)]).tolist()
    return Part(owned.astype(np.int64), halo.astype(np.int64), inner if hops else 0, tuple(within))


def propagation_rows(adjacency: sparse.csr_array, part: Part, kind: str, rows: int | None = None) -> sparse.csr_array:
    """Rows of the propagation matrix of the *whole* graph in a part's numbers: the first ``rows`` of its nodes × all of them.

    Degrees are those in the whole graph, so a row whose neighbours are all here is the row of the whole matrix, to the bit.

    Args:
        adjacency: n×n symmetric CSR of the whole graph.
        part: the nodes.
        kind: "gcn", Â = D̃^-1/2 (A+I) D̃^-1/2, or "mean", D^-1 A.
        rows: how many; None: those of the owned nodes.

    Returns:
        rows×(m+h); columns of nodes outside the part are left out.
    """
    nodes = part.nodes
    chosen = nodes[: len(part.owned) if rows is None else rows]
    place = np.full(adjacency.shape[0], -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    taken = sparse.csr_array(adjacency[chosen])
    local = place[taken.indices]
    kept = local >= 0
    row = np.repeat(np.arange(len(chosen)), np.diff(taken.indptr))[kept]
    column, values = local[kept], taken.data[kept]
    # summed as the whole matrix is, in its own precision
    degrees = np.asarray(taken.sum(axis=1), dtype=np.float64).reshape(-1)
    if kind == "mean":
        scale = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
        values = (values * scale[row]).astype(adjacency.dtype)
    else:
        own = np.arange(len(chosen))
        row, column = np.concatenate([row, own]), np.concatenate([column, own])
        values = np.concatenate([values, np.ones(len(chosen), dtype=values.dtype)])
        root = _inverse_roots(adjacency, nodes)
        values = (values * root[row] * root[column]).astype(adjacency.dtype)
    result = sparse.csr_array((values, (row, column)), shape=(len(chosen), len(nodes)))
    result.sort_indices()
    return result


def _inverse_roots(adjacency: sparse.csr_array, nodes: np.ndarray) -> np.ndarray:
    """1/√(degree in A+I) of these nodes."""
    taken = sparse.csr_array(adjacency[nodes])
    loops = sparse.csr_array(
        (np.ones(len(nodes), dtype=taken.dtype), (np.arange(len(nodes)), nodes)), shape=taken.shape
    )
    return 1.0 / np.sqrt(np.asarray(sparse.csr_array(taken + loops).sum(axis=1), dtype=np.float64).reshape(-1))
