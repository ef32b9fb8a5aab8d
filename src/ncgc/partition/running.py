"""Running: sums over all nodes, estimated while only one part is at hand."""

from __future__ import annotations

from torch import Tensor

from ncgc.ops import Reduction


class Totals:
    """What has been summed by name: over the parts visited in this epoch, and over all parts in the one before.

    With S the sum over the epoch before and s the part's share of the nodes, a part that sums to v is taken for the whole as

        (1 − s)·S + v                    (v/s in the very first epoch):

    the other parts as they were an epoch ago, this one as it is now, with its gradient. Nothing is ever per part alone, the
    parts of an epoch add up to a true sum over all nodes, and d×d and K numbers are kept, whatever n is.
    """

    def __init__(self, nodes: int):
        self.nodes = nodes
        self.owned = nodes  # of the part at hand
        self.before: dict[str, Tensor] = {}
        self.now: dict[str, Tensor] = {}

    def add(self, name: str, values: Tensor) -> Tensor:
        """Take in what the part at hand sums to; the estimate for all nodes."""
        self.now[name] = self.now[name] + values if name in self.now else values.clone()
        share = self.owned / self.nodes
        return self.before[name] * (1 - share) + values if name in self.before else values / max(share, 1e-9)

    def end_epoch(self) -> None:
        """All parts were visited: what they summed to is what the next epoch begins with."""
        self.before, self.now = self.now, {}


class Running(Reduction):
    """A :class:`Reduction` of one part of the graph, its owned rows first.

    >>> import torch
    >>> totals = Totals(nodes=4)
    >>> totals.owned = 1
    >>> reduction = Running(totals).of("frequencies")
    >>> reduction.total(torch.tensor(3.0))  # a quarter of the nodes: four times as much
    tensor(12.)
    >>> totals.end_epoch()
    >>> reduction.total(torch.tensor(2.0))  # ¾ of what all parts summed to, and this one
    tensor(4.2500)
    """

    alone = False

    def __init__(self, totals: Totals, name: str = ""):
        self.totals, self.name = totals, name

    def of(self, name: str) -> Running:
        return Running(self.totals, f"{self.name}, {name}" if self.name else name)

    def owned(self, rows: int) -> int:
        return self.totals.owned

    def total(self, values: Tensor) -> Tensor:
        return self.totals.add(self.name, values)


class Known(Reduction):
    """The sum over all nodes, known beforehand: what blocks are handed in exact inference."""

    alone = False

    def __init__(self, value: Tensor):
        self.value = value

    def owned(self, rows: int) -> int:
        return 0  # no row need be summed

    def total(self, values: Tensor) -> Tensor:
        return self.value.clone()
