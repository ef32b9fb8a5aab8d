"""CommunicationReport: what a distributed training cost each process in memory and sent over the network."""

from __future__ import annotations

import resource
import sys
from dataclasses import asdict, dataclass
from typing import Any

from ncgc.training import Watcher
from ncgc.training.engines.distributed.group import Group, Traffic


@dataclass(frozen=True)
class CommunicationReport:
    """Of one training, by process where it is a list.

    Attributes:
        processes: how many.
        nodes, halo: that each owned, and neighbours elsewhere that it fetched.
        peak_bytes: the most memory that each had at any time since it was started (resident, the libraries' own included).
        to_everybody, messages: bytes that each handed to sums over all processes in the last epoch, and in how many.
        to_neighbours: bytes of halo rows that each sent to others in the last epoch, forward, backward and in the look.
    """

    processes: int
    nodes: list[int]
    halo: list[int]
    peak_bytes: list[int]
    to_everybody: int
    messages: int
    to_neighbours: list[int]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> list[tuple[str, str]]:
        """For people: a word and what there is to say to it."""
        peak = f"{_numbers([value / 2**20 for value in self.peak_bytes])} MiB at most"
        nodes = f"{_numbers(self.nodes)} nodes, {_numbers(self.halo)} in the halo"
        sent = (
            f"an epoch: {self.to_everybody / 1e3:,.1f} kB to everybody in {self.messages} messages, "
            f"{_numbers([value / 1e3 for value in self.to_neighbours])} kB to neighbours"
        )
        return [("ranks", f"{self.processes}: {nodes}; {peak}"), ("sent", sent)]


class Meter:
    """Notes what was sent when an epoch ends; a watcher to put around another one."""

    def __init__(self, group: Group):
        self.group = group
        self.marks = [group.traffic.copy()]

    def watching(self, watch: Watcher | None) -> Watcher:
        def watched(epoch: int, quantities: dict[str, float]) -> None:
            self.marks = [self.marks[-1], self.group.traffic.copy()]
            if watch is not None:
                watch(epoch, quantities)

        return watched

    @property
    def last_epoch(self) -> Traffic:
        return self.marks[-1].since(self.marks[0])


def communication_report(group: Group, meter: Meter, nodes: int, halo: int) -> CommunicationReport:
    """The account of all processes, in all of them."""
    last = meter.last_epoch
    unit = 1 if sys.platform == "darwin" else 1024
    return CommunicationReport(
        group.size,
        group.counts(nodes),
        group.counts(halo),
        group.counts(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit),
        last.sent["everybody"],
        last.messages["everybody"],
        group.counts(last.sent["neighbours"]),
    )


def _numbers(values: list[float] | list[int]) -> str:
    """One number where all are alike, otherwise the range.

    >>> _numbers([3, 3]), _numbers([1000, 3])
    ('3', '3–1,000')
    """
    low, high = f"{min(values):,.0f}", f"{max(values):,.0f}"
    return low if low == high else f"{low}–{high}"
