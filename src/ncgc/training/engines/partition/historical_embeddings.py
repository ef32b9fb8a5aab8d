"""HistoricalEmbeddings: what the neighbours outside a part were in the last evaluation pass, so that a part need not leave them out.

A part p sees P_pp·Z_p of its own nodes. The rest of its sum, P_p,out·Z_out over all other nodes, is taken from the last evaluation
pass, which has Z of all nodes for every product of the network (Fey et al., 2021, keep hidden states in the same way):

    (P·Z)_p  ≈  P_pp·Z_p + P_p,out·Z_out,           no gradient through Z_out,

so with weights that stand still and without dropout what a part computes forward is what the whole graph does, whatever the halo.
It takes an n×d buffer a product (in a file where it is large), and no node more in the part.
"""

from __future__ import annotations

import tempfile

import numpy as np
import torch
from torch import Tensor

from ncgc.ops import SparseMatrix

IN_FILE = 2**30  # bytes from which a buffer lies in a file


def buffer(rows: int, columns: int) -> np.ndarray:
    """A large array that is written once and read in blocks: in memory, or in a temporary file where it is very large.

    Args:
        rows: how many.
        columns: how many.

    Returns:
        (rows, columns) float32, not initialised. A file lies in TMPDIR and is removed with the array.
    """
    if rows * columns * 4 < IN_FILE:
        return np.empty((rows, columns), dtype=np.float32)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=(rows, columns))


class HistoricalEmbeddings:
    """The right-hand sides Z of all products P·Z in one forward pass, in the order of the products.

    Args:
        nodes: (m,) the nodes whose rows are known, in the order of the rows; None: all nodes.

    Attributes:
        products: (n, d) the right-hand side of each product.

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
        """Find the rows of some nodes.

        Args:
            nodes: (k,) by their number in the graph.
            of: nodes of the graph.

        Returns:
            (k,) their rows, and how many rows there are.
        """
        if self.nodes is None:
            return nodes, of
        place = np.full(of, -1, dtype=np.int64)
        place[self.nodes] = np.arange(len(self.nodes))
        return place[nodes], len(self.nodes)

    def place(self, number: int, rows: int, columns: int) -> Tensor:
        """A buffer for the right-hand side of a product; the same one in every evaluation pass.

        Args:
            number: of the product in the forward pass, from 0.
            rows, columns: shape of the right-hand side.

        Returns:
            (rows, columns), to be filled by the caller.
        """
        if number == len(self.products):
            self.products.append(torch.from_numpy(buffer(rows, columns)))
        return self.products[number]

    def keep(self, number: int, whole: Tensor) -> None:
        """Store the right-hand side of a product without a copy.

        Args:
            number: of the product in the forward pass, from 0.
            whole: (n, d) right-hand side.
        """
        self.products[number:] = [whole, *self.products[number + 1 :]]

    def begin(self) -> None:
        """Start a forward pass."""
        self._next = 0

    def next(self) -> Tensor:
        """The right-hand side of the next product in the forward pass."""
        self._next += 1
        return self.products[self._next - 1]


class OutsideMatrix(SparseMatrix):
    """Rows of a propagation matrix over a part; neighbours outside of it are as they were in the last evaluation pass.

    Args:
        inner: m×m, between the nodes of the part.
        outer: m×n, from the other nodes, whose columns are the rows of ``history``.
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
