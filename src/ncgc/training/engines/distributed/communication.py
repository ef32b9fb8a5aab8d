"""CommunicationReport: the memory of each process in a distributed training, and what it sent over the network."""

from __future__ import annotations

import resource
import sys
from dataclasses import asdict, dataclass
from typing import Any

from ncgc.training import Watcher
from ncgc.training.engines.distributed.group import Group, Traffic


@dataclass(frozen=True)
class CommunicationReport:
    """Memory and messages of one training; a list has one entry a process.

    Attributes:
        processes: how many.
        nodes: owned by each.
        halo: neighbours owned by other processes, whose rows each fetched.
        peak_bytes: the peak resident memory of each since it was started, libraries included.
        to_everybody: bytes that each contributed to sums over all processes in the last epoch.
        messages: in how many messages.
        to_neighbours: bytes of halo rows that each sent in the last epoch: forward, backward and in the evaluation pass.
    """

    processes: int
    nodes: list[int]
    halo: list[int]
    peak_bytes: list[int]
    to_everybody: int
    messages: int
    to_neighbours: list[int]

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, for JSON."""
        return asdict(self)

    def lines(self) -> list[tuple[str, str]]:
        """For the screen: pairs of a heading and a line of text."""
        peak = f"{_numbers([value / 2**20 for value in self.peak_bytes])} MiB at most"
        nodes = f"{_numbers(self.nodes)} nodes, {_numbers(self.halo)} in the halo"
        sent = (
            f"an epoch: {self.to_everybody / 1e3:,.1f} kB to everybody in {self.messages} messages, "
            f"{_numbers([value / 1e3 for value in self.to_neighbours])} kB to neighbours"
        )
        return [("ranks", f"{self.processes}: {nodes}; {peak}"), ("sent", sent)]


class Meter:
    """Records what was sent in the last epoch.

    Args:
        group: whose traffic to record.
    """

    def __init__(self, group: Group):
        self.group = group
        self.marks = [group.traffic.copy()]

    def watching(self, watch: Watcher | None) -> Watcher:
        """Record the traffic at the end of every epoch.

        Args:
            watch: another watcher to call after each record.

        Returns:
            The watcher for the trainer.
        """

        def watched(epoch: int, quantities: dict[str, float]) -> None:
            self.marks = [self.marks[-1], self.group.traffic.copy()]
            if watch is not None:
                watch(epoch, quantities)

        return watched

    @property
    def last_epoch(self) -> Traffic:
        """What was sent between the last two ends of an epoch."""
        return self.marks[-1].since(self.marks[0])


def communication_report(group: Group, meter: Meter, nodes: int, halo: int) -> CommunicationReport:
    """Collect the report from all processes; every process calls it.

    Args:
        group: the processes.
        meter: of this process.
        nodes: that this process owns.
        halo: neighbours that it fetched.

    Returns:
        The same report in every process.
    """
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
