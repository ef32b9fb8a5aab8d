"""Share: the nodes that one process, or one part, answers for, and where they stand in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ncgc.ops import ALONE, Reduction


@dataclass(frozen=True, eq=False)
class Share:
    """Some nodes of a graph, and how sums over them become sums over all.

    Attributes:
        owned: (m,) their numbers in the graph, ascending; None for all nodes.
        reduction: of sums over them.

    >>> Share(np.array([2, 5, 7])).local(np.array([1, 5, 2]))
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
        place = np.searchsorted(self._owned, nodes)
        mine = place < len(self._owned)
        mine[mine] = self._owned[place[mine]] == nodes[mine]
        return place[mine], mine


WHOLE = Share()
