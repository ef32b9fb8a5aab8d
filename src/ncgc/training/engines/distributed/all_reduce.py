"""AllReduce: sums over the nodes of this process become sums over all, by a message of as many numbers."""

from __future__ import annotations

import torch
from torch import Tensor

from ncgc.ops import Reduction
from ncgc.training.engines.distributed.group import Group


class AllReduce(Reduction):
    """Every sum, maximum and count is that of all processes of a group. What is sent is d×d and K numbers, whatever n is.

    Args:
        group: the processes.
        owned: (m,) global numbers of the rows that this one has, in their order.

    >>> reduction = AllReduce(Group(), torch.arange(3))
    >>> reduction.total(torch.ones(2)), reduction.count(3)
    (tensor([1., 1.]), 3)
    """

    alone = False

    def __init__(self, group: Group, owned: Tensor):
        self.group, self.ids = group, owned

    def total(self, values: Tensor) -> Tensor:
        return self.group.summed(values)

    def count(self, number: int) -> int:
        return int(self.group.summed(torch.tensor(number)))

    def highest(self, values: Tensor) -> Tensor:
        return self.group.highest(values)

    def rows(self, values: Tensor, index: Tensor) -> Tensor:
        """The rows asked for, each sent by the process that owns it; (m, d) numbers, so ask for a sample."""
        wanted, order = index.sort()
        place = torch.searchsorted(wanted, self.ids).clamp_max_(max(len(wanted) - 1, 0))
        mine = wanted[place] == self.ids if len(wanted) else torch.zeros_like(self.ids, dtype=torch.bool)
        found = values.new_zeros(len(index), values.shape[1])
        found[order[place[mine]]] = values[mine]
        return self.group.summed(found)

    def agreed(self, values: Tensor) -> Tensor:
        return self.group.from_first(values)
