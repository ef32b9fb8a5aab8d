"""Options of `ncgc train` for several processes and for checkpoints."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgc.cli.options import keyword
from ncgc.errors import ParameterError
from ncgc.params.parameter import Parameter

if TYPE_CHECKING:
    from ncgc.graph import Graph
    from ncgc.training import Checkpointing, Watcher
    from ncgc.training.engines.distributed.group import Group

PANEL = "Several processes and checkpoints"
_RANGES = (
    Parameter("processes", 2, int, "processes to start", PANEL, low=1),
    Parameter("timeout", 300.0, float, "seconds to wait", PANEL, low=0, open_low=True, high=1e9),
    Parameter("every", 10, int, "epochs between two checkpoints", PANEL, low=1),
)


def _option(kind: Any, name: str, help_: str, metavar: str | None = None) -> Any:
    return Annotated[kind, typer.Option(name, help=help_, metavar=metavar, rich_help_panel=PANEL, show_default=False)]


OPTIONS: tuple[inspect.Parameter, ...] = (
    keyword("distributed", _option(bool, "--distributed", "Train in --processes processes on this machine. For several machines see docs/scaling.md."), False),
    keyword("processes", _option(int, "--processes", "How many processes --distributed starts. Default 2.", "INT"), 2),
    keyword("timeout", _option(float, "--timeout", "Seconds that a process waits for the others before it gives up. Default 300.", "FLOAT"), 300.0),
    keyword("checkpoint", _option(Path | None, "--checkpoint", "Write checkpoints to this folder. All processes must see it.", "DIR"), None),
    keyword("every", _option(int, "--every", "Epochs between two checkpoints. Default 10.", "INT"), 10),
    keyword("resume", _option(bool, "--resume", "Resume from the latest whole checkpoint in --checkpoint."), False),
)  # fmt: skip


@dataclass
class DistributedOptions:
    """The options above, checked, and the group of processes once it is joined.

    Attributes:
        distributed: start ``processes`` processes on this machine.
        processes: how many to start.
        timeout: seconds that a process waits for the others.
        checkpoint: the folder of the checkpoints.
        every: epochs between two checkpoints.
        resume: resume from the latest checkpoint.
        group: the processes that train together, None for one alone.
    """

    distributed: bool
    processes: int
    timeout: float
    checkpoint: Path | None
    every: int
    resume: bool
    group: Group | None = None

    def __post_init__(self) -> None:
        for row in _RANGES:
            row.check(getattr(self, row.name), "ncgc train")
        if self.resume and self.checkpoint is None:
            raise ParameterError("--resume needs --checkpoint DIR, the folder to resume from.")

    @property
    def in_group(self) -> bool:
        """Whether this process was started as one of several, by --distributed or by torchrun."""
        return "WORLD_SIZE" in os.environ and "RANK" in os.environ

    @property
    def first(self) -> bool:
        """Whether this process is the first of its group, or alone: the one that measures, shows and writes."""
        return self.group is None or self.group.first

    def join(self) -> None:
        """Join the other processes, if there are any."""
        if self.in_group:
            from ncgc.training.engines.distributed.group import Group

            self.group = Group.join(self.timeout)

    def leave(self) -> None:
        """Leave the group, if there is one."""
        if self.group is not None:
            self.group.leave()

    def check_method(self, method: str, kind: Any) -> None:
        """Raise a ParameterError if a method cannot train with these options.

        Args:
            method: its name.
            kind: its class.
        """
        processes = self.distributed or self.in_group
        if (processes and not kind.trains_in_processes) or (self.checkpoint is not None and not kind.resumable):
            raise ParameterError(
                f"{method} trains in one process, without checkpoints; only ncgc can use several processes or checkpoints."
            )

    def checkpointing(self, seed: int, runs: int) -> Checkpointing | None:
        """Where and how often a run writes checkpoints.

        Args:
            seed: of the run.
            runs: how many runs there are; with several, each has its own folder.

        Returns:
            The settings of ``NodeClassifier.fit``; None without --checkpoint.
        """
        if self.checkpoint is None:
            return None
        from ncgc.training import Checkpointing

        folder = self.checkpoint / f"seed-{seed}" if runs > 1 else self.checkpoint
        return Checkpointing(folder, self.every, self.resume)

    def read(self, load: Callable[[], Graph], whole: bool) -> Graph:
        """Read the graph, in the first process only where the others need just a summary of it.

        Args:
            load: reads the graph.
            whole: whether every process needs the whole graph.

        Returns:
            The graph; in all but the first process a summary of it unless ``whole``.
        """
        if self.group is None or whole:
            return load()
        from ncgc.training.engines.distributed.scatter import read_by_first

        return read_by_first(load, self.group)

    def together(self, watch: Watcher) -> Watcher:
        """Make Ctrl-C in one process end all of them after the same epoch.

        Args:
            watch: the watcher of this process.

        Returns:
            A watcher for ``fit``; the same one where a process is alone.
        """
        group = self.group
        if group is None:
            return watch
        import torch

        def watched(epoch: int, quantities: dict[str, float]) -> None:
            group.where = f"in epoch {epoch + 1}"
            pressed = False
            try:
                watch(epoch, quantities)
            except KeyboardInterrupt:
                pressed = True
            if bool(group.highest(torch.tensor(int(pressed)))):
                raise KeyboardInterrupt

        return watched
