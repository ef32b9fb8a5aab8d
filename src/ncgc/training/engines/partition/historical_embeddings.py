"""HistoricalEmbeddings: what the neighbours outside a part were at the last look, so that a part need not leave them out.

A part p sees P_pp·Z_p of its own nodes. The rest of its sum, P_p,out·Z_out over all other nodes, is taken from the last exact look,
which has Z of all nodes for every product of the network (Fey et al., 2021, keep hidden states in the same way):

    (P·Z)_p  ≈  P_pp·Z_p + P_p,out·Z_out,           no gradient through Z_out,

so with weights that stand still and without dropout what a part computes forward is what the whole graph does, whatever the halo.
It takes an n×d buffer a product (in a file where it is large), and no node more in the part.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ncgc.ops import SparseMatrix
from ncgc.training.engines.partition.buffers import buffer


class HistoricalEmbeddings:
    """The right-hand sides of the products of one walk through the network, for all nodes, in their order.

    Args:
        nodes: (m,) where not all nodes are known, those that are, in the order of the rows.

    >>> history = HistoricalEmbeddings()
    >>> history.keep(0, torch.ones(3, 2)), history.begin()
    (None, None)
    >>> history.next().shape
    torch.Size([3, 2])
    """

    def __init__(self, nodes: np.ndarray | None = None) -> None:
        self.products: list[Tensor] = []
        self.nodes = nodes
        self._next = 0

    def __bool__(self) -> bool:
        return bool(self.products)

    def columns(self, nodes: np.ndarray, of: int) -> tuple[np.ndarray, int]:
        """Which rows these nodes of a graph of ``of`` nodes have, and how many rows there are."""
        if self.nodes is None:
            return nodes, of
        place = np.full(of, -1, dtype=np.int64)
        place[self.nodes] = np.arange(len(self.nodes))
        return place[nodes], len(self.nodes)

    def place(self, number: int, rows: int, columns: int) -> Tensor:
        """(rows, columns) where the look is to write the right-hand side of a product; the same buffer at every look."""
        if number == len(self.products):
            self.products.append(torch.from_numpy(buffer(rows, columns)))
        return self.products[number]

    def keep(self, number: int, whole: Tensor) -> None:
        """Remember the right-hand side of a product where it is."""
        self.products[number:] = [whole, *self.products[number + 1 :]]

    def begin(self) -> None:
        """A walk through the network begins."""
        self._next = 0

    def next(self) -> Tensor:
        """The right-hand side of the product that is next in the walk."""
        self._next += 1
        return self.products[self._next - 1]


class OutsideMatrix(SparseMatrix):
    """Rows of a propagation matrix over a part, the neighbours outside of it as they were.

    Args:
        inner: m×m, between the nodes of the part.
        outer: m×n, from the other nodes, numbered as in the last look.
        history: of all nodes, or of those that are neighbours.
    """

    def __init__(self, inner: SparseMatrix, outer: SparseMatrix, history: HistoricalEmbeddings):
        super().__init__(inner.row_pointers, inner.columns, inner.values, inner.shape)
        self.inner, self.outer, self.history = inner, outer, history

    def added(
        self, start: Tensor, dense: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        result, outside = self.inner.added(start, dense, beta=beta, alpha=alpha, out=out), self.history.next()
        return self.outer.added(result, outside, alpha=alpha, out=result)

    def added_transposed(
        self, start: Tensor, dense: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        return self.inner.added_transposed(start, dense, beta=beta, alpha=alpha, out=out)

    def scaled(self, factor: float) -> OutsideMatrix:
        return OutsideMatrix(self.inner.scaled(factor), self.outer.scaled(factor), self.history)
