"""HaloMatrix: rows of P in every process; a product fetches the rows of the other factor that its columns need.

Process r has its rows of P in two blocks, P_rr over its own nodes and P_rh over the halo, whose rows of Z come from their owners:

    (P·Z)_r = P_rr·Z_r + P_rh·Z_halo,

and while they are on their way P_rr·Z_r is computed. A symmetric P is its own transpose, so a gradient is the same product. Any
other has (Pᵀ·U)_r = P_rrᵀ·U_r + Σ_s what s has for rows of r: its halo's rows travel the other way and are added. Both are what
:class:`SparseMatrix` promises, so every layer, loss and gradient that multiplies by P works on it unchanged. (h·d numbers a
product, h the nodes of the halo.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ncgc.ops import SparseMatrix
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.partition import Part


class HaloPlan:
    """Which rows each process sends to each other one, agreed once between all of them.

    Args:
        group: the processes.
        part: this process's nodes; its halo is one hop, or whatever rows are to be fetched.
        owner: (n,) the process that owns each node.

    Attributes:
        order: (h,) the places in the part's halo in the order in which its rows arrive, that of their owners.
        seen: called with the (m, d) own rows of the right-hand side of every product.
    """

    def __init__(self, group: Group, part: Part, owner: np.ndarray):
        self.group = group
        self.seen: Callable[[Tensor], None] | None = None
        self.order = np.argsort(owner[part.halo], kind="stable")
        self.receive = np.bincount(owner[part.halo], minlength=group.size).tolist()
        self.send = group.exchanged(torch.tensor(self.receive), [1] * group.size, [1] * group.size).tolist()
        wanted = group.exchanged(torch.from_numpy(part.halo[self.order]), self.receive, self.send)
        self.rows = torch.from_numpy(np.searchsorted(part.owned, wanted.numpy()))  # (Σ send,) local numbers to send

    def fetch(self, own: Tensor) -> Callable[[], Tensor]:
        """Start to fetch the rows of the halo.

        Args:
            own: (m, d) own rows.

        Returns:
            A function that waits for the (h, d) rows of the halo, in :attr:`order`.
        """
        return self.group.exchange_begun(own[self.rows], self.send, self.receive)

    def give_back(self, own: Tensor, halo: Tensor) -> Tensor:
        """Add the rows of every process's halo to the rows of their owners.

        Args:
            own: (m, d) own rows, changed in place.
            halo: (h, d) rows of the halo, in :attr:`order`.

        Returns:
            ``own``.
        """
        return own.index_add_(0, self.rows, self.group.exchanged(halo, self.receive, self.send))


class HaloMatrix(SparseMatrix):
    """The rows of a propagation matrix that this process owns, as if the matrix were square over its own nodes.

    Args:
        own: m×m, the columns of the own nodes.
        halo: m×h, those of the halo, in the order in which its rows arrive.
        plan: how they come here.
    """

    def __init__(self, own: SparseMatrix, halo: SparseMatrix, plan: HaloPlan):
        super().__init__(own.row_pointers, own.columns, own.values, own.shape, symmetric=own.symmetric)
        self.own, self.halo, self.plan = own, halo, plan

    @classmethod
    def split(
        cls, local: sparse.csr_array, plan: HaloPlan, *, symmetric: bool, dtype: torch.dtype = torch.float32
    ) -> HaloMatrix:
        """Split rows of P into the columns of the own nodes and those of the halo.

        Args:
            local: m×(m+h) rows, with the columns of a part: own nodes, then the halo.
            plan: how rows of the halo arrive.
            symmetric: whether P as a whole is.
            dtype: of the values.

        Returns:
            The rows as a matrix that exchanges halos.
        """
        columns, m = sparse.csc_array(local), local.shape[0]
        own, halo = sparse.csr_array(columns[:, :m]), sparse.csr_array(columns[:, m:][:, plan.order])
        return cls(
            SparseMatrix.from_scipy(own, symmetric=symmetric, dtype=dtype),
            SparseMatrix.from_scipy(halo, dtype=dtype),
            plan,
        )

    def added(
        self, start: Tensor, dense: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        if self.plan.seen is not None:
            self.plan.seen(dense)
        arrived = self.plan.fetch(dense)
        result = self.own.added(start, dense, beta=beta, alpha=alpha, out=out)
        halo = arrived()
        return self.halo.added(result, halo, alpha=alpha, out=result) if len(halo) else result

    def added_transposed(
        self, start: Tensor, dense: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        if self.symmetric:
            return self.added(start, dense, beta=beta, alpha=alpha, out=out)
        spread = self.plan.give_back(self.own.transposed_product(dense), self.halo.transposed_product(dense))
        result = spread.mul_(alpha) if beta == 0.0 else torch.add(start * beta, spread, alpha=alpha)
        return result if out is None else out.copy_(result)

    def scaled(self, factor: float) -> HaloMatrix:
        return HaloMatrix(self.own.scaled(factor), self.halo.scaled(factor), self.plan)
