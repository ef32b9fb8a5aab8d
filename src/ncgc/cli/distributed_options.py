"""What `ncgc train` can be told about processes and checkpoints, and one fit under it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgc.cli.options import keyword
from ncgc.cli.screen import Screen
from ncgc.errors import ParameterError, PeerError

if TYPE_CHECKING:
    from ncgc.datasets import Split
    from ncgc.graph import Graph
    from ncgc.training import Watcher
    from ncgc.training.engines.distributed.communication import CommunicationReport
    from ncgc.training.engines.distributed.group import Group

PANEL = "Several processes and checkpoints"


def _option(kind: Any, name: str, help_: str, metavar: str | None = None) -> Any:
    return Annotated[kind, typer.Option(name, help=help_, metavar=metavar, rich_help_panel=PANEL, show_default=False)]


OPTIONS: tuple[inspect.Parameter, ...] = (
    keyword("distributed", _option(bool, "--distributed", "Train in --processes processes on this machine; for several machines see docs/scaling.md."), False),
    keyword("processes", _option(int, "--processes", "How many processes --distributed starts. Default 2.", "INT"), 2),
    keyword("timeout", _option(float, "--timeout", "Seconds that a process waits for the others before it gives up. Default 300.", "FLOAT"), 300.0),
    keyword("checkpoint", _option(Path | None, "--checkpoint", "Write checkpoints there; all processes must see the folder.", "DIR"), None),
    keyword("every", _option(int, "--every", "Epochs between two checkpoints. Default 10.", "INT"), 10),
    keyword("resume", _option(bool, "--resume", "Go on from the latest whole checkpoint in --checkpoint."), False),
)  # fmt: skip


@dataclass
class Scale:
    """The options above, and the group once it is joined."""

    distributed: bool
    processes: int
    timeout: float
    checkpoint: Path | None
    every: int
    resume: bool
    group: Group | None = None
    account: CommunicationReport | None = None  # of the latest training in several processes

    def __post_init__(self) -> None:
        for name, value, low in (("processes", self.processes, 1), ("every", self.every, 1)):
            if value < low:
                raise ParameterError(
                    f"The '{name}' option of ncgc train must be an int in the range [{low}, inf). Got {value} instead."
                )
        if not 0 < self.timeout < 1e9:
            raise ParameterError(
                f"The 'timeout' option of ncgc train must be seconds above 0. Got {self.timeout:g} instead."
            )
        if self.resume and self.checkpoint is None:
            raise ParameterError("--resume needs --checkpoint DIR, the folder to go on from.")

    @property
    def asked(self) -> bool:
        """Whether anything here needs NCGC's own training loop."""
        return self.group is not None or self.checkpoint is not None

    @property
    def talks(self) -> bool:
        return self.group is None or self.group.first

    def folder(self, seed: int, runs: int) -> Path | None:
        """Where the checkpoints of a run are: one folder a seed where there are several."""
        return self.checkpoint / f"seed-{seed}" if self.checkpoint is not None and runs > 1 else self.checkpoint

    def read(self, load: Callable[[], Graph], whole: bool) -> Graph:
        """The graph, and in all but the first of many processes its outline, unless each needs the ``whole``."""
        if self.group is None or whole:
            return load()
        from ncgc.training.engines.distributed.scatter import read_by_first

        return read_by_first(load, self.group)

    def fit(self, model: Any, graph: Graph, split: Split, watch: Watcher, folder: Path | None, screen: Screen) -> None:
        """One fit, in this process or in all; a lost process leaves a sentence that says how to go on."""
        from ncgc.training import Checkpointing

        place = None if folder is None else Checkpointing(folder, self.every, self.resume)
        if self.group is None:
            model.fit(graph, split, watch=watch, checkpoint=place)
            return
        try:
            model.fit(graph, split, watch=self._together(watch), checkpoint=place, group=self.group)
            self.account = model.communication_
        except PeerError as error:
            advice = "start again" if folder is None else f"start again with --checkpoint {folder} --resume to go on"
            raise PeerError(f"{str(error).rstrip('.')}; {advice}.") from None

    def _together(self, watch: Watcher) -> Watcher:
        """Ctrl-C in one process ends all of them after the same epoch."""
        import torch

        group = self.group
        assert group is not None

        def watched(epoch: int, quantities: dict[str, float]) -> None:
            group.where = f"in epoch {epoch + 1}"
            asked = False
            try:
                watch(epoch, quantities)
            except KeyboardInterrupt:
                asked = True
            if bool(group.highest(torch.tensor(int(asked)))):
                raise KeyboardInterrupt

        return watched
