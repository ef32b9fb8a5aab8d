"""Totals: sums over all nodes, estimated while only one part is in memory; RunningSum and KnownSum hand them to layers and losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from ncgc.ops import Reduction


class Totals:
    """Sums over all nodes by name, kept as what each part last summed to.

    With v_q what part q summed to when it was last visited, a current part p that sums to v now gives the estimate

        S = v + Σ_{q≠p} v_q            (scaled up to all nodes while some part was never visited):

    the others as they were at their last visit, this one as it is, with its gradient. While the weights stand still S is the
    sum over all nodes, however unlike the parts are. METIS makes them unlike, since neighbours are often of one class, so
    a fraction of the last epoch's total would be a poor estimate for the others. It takes P·d² numbers: a part of at least
    d nodes has no more of them than of hidden states.

    Args:
        owned: (P,) how many nodes each part owns.

    Attributes:
        part: the current one.
        table: (P, …) by name, what each part last summed to.
    """

    def __init__(self, owned: Sequence[int]):
        self.owned, self.part = list(owned), 0
        self.table: dict[str, Tensor] = {}
        self._sums: dict[str, Tensor] = {}
        self._seen: dict[str, set[int]] = {}

    def add(self, name: str, values: Tensor) -> Tensor:
        """Take in a sum of the current part.

        Args:
            name: of the sum.
            values: what the current part sums to, of any shape.

        Returns:
            The estimate for all nodes, of the same shape; it may be overwritten.
        """
        if name not in self.table:
            self.table[name] = values.new_zeros(len(self.owned), *values.shape)
            self._sums[name], self._seen[name] = torch.zeros_like(values), set()
        total, seen = self._sums[name], self._seen[name]
        total += values - self.table[name][self.part]
        self.table[name][self.part] = values
        seen.add(self.part)
        if len(seen) == len(self.owned):
            return total.clone()
        return total * (sum(self.owned) / max(sum(self.owned[part] for part in seen), 1))

    def end_first_visit(self) -> None:
        """All parts were visited once, without a step."""
        self.end_epoch()

    def end_step(self) -> None:
        """A step ends; in one process the estimates already include the earlier parts of the step."""

    def end_epoch(self) -> None:
        """Sum again, so that rounding errors do not build up and a resumed training continues with the same numbers."""
        self._sums = {name: parts.sum(0) for name, parts in self.table.items()}

    def whole(self) -> dict[str, Tensor]:
        """(P, …) by name, what each part last summed to."""
        return dict(self.table)

    def load(self, table: Mapping[str, Tensor]) -> None:
        """Restore the sums of a checkpoint; sums under other names stay.

        Args:
            table: (P, …) sums of all parts, by name.
        """
        for name, parts in table.items():
            self.table[name], self._sums[name] = parts.clone(), parts.sum(0)
            self._seen[name] = set(range(len(self.owned)))


class RunningSum(Reduction):
    """A :class:`Reduction` whose sums over one part, owned rows first, become estimates of the sums over all nodes.

    Args:
        totals: of all parts.
        name: of the sum.

    >>> import torch
    >>> totals = Totals(owned=[1, 3])
    >>> reduction = RunningSum(totals).of("frequencies")
    >>> reduction.total(torch.tensor(3.0))  # a quarter of the nodes, the others still unknown: four times as much
    tensor(12.)
    >>> totals.part = 1
    >>> reduction.total(torch.tensor(7.0))
    tensor(10.)
    >>> totals.part = 0
    >>> reduction.total(torch.tensor(2.0))  # the other as it was, this one as it is
    tensor(9.)
    """

    alone = False

    def __init__(self, totals: Totals, name: str = ""):
        self.totals, self.name = totals, name

    def of(self, name: str) -> RunningSum:
        return RunningSum(self.totals, f"{self.name}, {name}" if self.name else name)

    def owned(self, rows: int) -> int:
        return self.totals.owned[self.totals.part]

    def total(self, values: Tensor) -> Tensor:
        return self.totals.add(self.name, values)


class KnownSum(Reduction):
    """A :class:`Reduction` with the sum over all nodes known beforehand, for blocks of rows in exact inference.

    Args:
        value: the sum.
    """

    alone = False

    def __init__(self, value: Tensor):
        self.value = value

    def owned(self, rows: int) -> int:
        return 0  # no row need be summed

    def total(self, values: Tensor) -> Tensor:
        return self.value.clone()
