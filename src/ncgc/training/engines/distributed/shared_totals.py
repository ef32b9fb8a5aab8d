"""SharedTotals: the running totals of training by parts, with the parts in many processes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ncgc.ops import Reduction
from ncgc.training.engines.partition.running_totals import Totals


class SharedTotals(Totals):
    """What each part last summed to, and the sum over the parts of all processes as it was before the step at hand.

    With S the sum over all parts before the step, a part p that summed to v_p then and sums to v now is taken for the whole as

        S + v − v_p                        (v scaled up to all nodes before all parts were visited once):

    whoever else computes a part of the same step does not know of this one until the step ends, so the result does
    not depend on which process has which part. What changed is added up then, in one message of d² and K numbers, whatever P
    and n are. A process keeps the rows of its own parts; those of others in :attr:`table` mean nothing here.

    Args:
        owned: (P,) how many nodes each part owns.
        own: the numbers of this process's parts.
        reduction: of sums over processes.
    """

    def __init__(self, owned: Sequence[int], own: Sequence[int], reduction: Reduction):
        super().__init__(owned)
        self.own, self.reduction = torch.tensor(list(own)), reduction
        self._changes: dict[str, dict[int, Tensor]] = {}

    def add(self, name: str, values: Tensor) -> Tensor:
        if name not in self.table:
            self.table[name] = values.new_zeros(len(self.owned), *values.shape)
        self._changes.setdefault(name, {})[self.part] = values.clone()
        if name not in self._sums:
            return values * (sum(self.owned) / max(self.owned[self.part], 1))
        return self._sums[name] + (values - self.table[name][self.part])

    def end_first_visit(self) -> None:
        self.end_step()

    def end_step(self) -> None:
        """Add up what the parts of this step changed, in all processes; all call it, with parts in the step or without."""
        changes = {name: torch.zeros_like(table[0]) for name, table in self.table.items()}
        for name, parts in self._changes.items():
            for part, values in sorted(parts.items()):
                changes[name] += values - self.table[name][part]
                self.table[name][part] = values
        self._changes = {}
        for name, change in self._over_processes(changes).items():
            self._sums[name] = self._sums[name] + change if name in self._sums else change

    def end_epoch(self) -> None:
        self._sums = self._over_processes({name: table[self.own].sum(0) for name, table in self.table.items()})

    def whole(self) -> dict[str, Tensor]:
        """(P, …) by name, what each part of all processes last summed to; all call it."""
        mine: dict[str, Tensor] = {}
        for name, table in self.table.items():
            mine[name] = torch.zeros_like(table)
            mine[name][self.own] = table[self.own]
        return self._over_processes(mine)

    def _over_processes(self, own: dict[str, Tensor]) -> dict[str, Tensor]:
        """Tensors by name, added up over the processes in one message."""
        names = sorted(own)
        if not names:
            return {}
        whole = self.reduction.total(torch.cat([own[name].flatten() for name in names]))
        pieces = torch.split(whole, [own[name].numel() for name in names])
        return {name: piece.view_as(own[name]).clone() for name, piece in zip(names, pieces, strict=True)}
