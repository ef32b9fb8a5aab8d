"""Ownership: the nodes that one process, or one part, answers for, and where they stand in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

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
        """Where those of these nodes that are owned stand here, in the order given, and a mask of which they are."""
        if self.owned is None:
            return nodes, np.ones(len(nodes), dtype=bool)
        if len(self._owned) < len(nodes) and bool((nodes[1:] > nodes[:-1]).all()):
            # a small part among many nodes in order: look for the part's nodes, not for theirs
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
