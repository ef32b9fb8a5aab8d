"""HaloMatrix: rows of P in every process; a product first fetches the rows of the other factor that its columns need.

Forward, process r computes P_r·Z with Z_r its own rows and the halo's rows sent by their owners:

    (P·Z)_r = P_r · [ Z_r ; Z_halo ],          the gradient  (Pᵀ·U)_r = own rows of P_rᵀU_r + Σ_s what s has for rows of r,

so backward the same rows travel the other way and are added. Both are what :class:`SparseMatrix` promises, so every layer,
loss and gradient that multiplies by P works on it unchanged. (h·d numbers a product, h the nodes of the halo.)
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ncgc.distributed.group import Group
from ncgc.ops import SparseMatrix
from ncgc.partition import Part


class HaloPlan:
    """Who sends which rows to whom, settled once between all processes.

    Args:
        group: the processes.
        part: this process's nodes; its halo is one hop.
        owner: (n,) the process that owns each node.
    """

    def __init__(self, group: Group, part: Part, owner: np.ndarray):
        self.group = group
        self.order = torch.from_numpy(np.argsort(owner[part.halo], kind="stable"))  # the halo by its owners
        self.back = self.order.argsort()
        self.receive = np.bincount(owner[part.halo], minlength=group.size).tolist()
        self.send = group.exchanged(torch.tensor(self.receive), [1] * group.size, [1] * group.size).tolist()
        wanted = torch.from_numpy(part.halo)[self.order]
        asked = group.exchanged(wanted, self.receive, self.send)
        self.rows = torch.from_numpy(np.searchsorted(part.owned, asked.numpy()))  # (Σ send,) local numbers to send

    def fetch(self, own: Tensor) -> Tensor:
        """(h, d) the rows of the halo, out of the (m, d) own rows of every process."""
        return self.group.exchanged(own[self.rows], self.send, self.receive)[self.back]

    def give_back(self, own: Tensor, halo: Tensor) -> Tensor:
        """Add the (h, d) rows of every process's halo to the (m, d) own rows of their owners, in place."""
        returned = self.group.exchanged(halo[self.order], self.receive, self.send)
        return own.index_add_(0, self.rows, returned)


class HaloMatrix(SparseMatrix):
    """The rows of a propagation matrix that this process owns, as if the matrix were square over its own nodes.

    Args:
        local: m×(m+h), its columns in the order of the part: own nodes, then the halo.
        plan: how the halo's rows come here.
    """

    def __init__(self, local: SparseMatrix, plan: HaloPlan):
        own = local.shape[0]
        super().__init__(local.row_pointers, local.columns, local.values, (own, own))
        self.local, self.plan = local, plan

    def added(
        self, start: Tensor, dense: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        seen = torch.cat([dense, self.plan.fetch(dense)])
        return self.local.added(start, seen, beta=beta, alpha=alpha, out=out)

    def added_transposed(
        self, start: Tensor, dense: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        spread = self.local.transposed_product(dense)
        own = self.plan.give_back(spread[: self.shape[0]], spread[self.shape[0] :])
        result = own.mul_(alpha) if beta == 0.0 else torch.add(start * beta, own, alpha=alpha)
        return result if out is None else out.copy_(result)

    def scaled(self, factor: float) -> HaloMatrix:
        return HaloMatrix(self.local.scaled(factor), self.plan)
