"""A run on the screen: progress bars, warnings as sentences, and Ctrl-C that waits for the current epoch."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType, TracebackType
from typing import Any

from ncgc.cli.screen import Screen, Watch
from ncgc.runs.execute import Observer


class Interruption:
    """Inside, the first Ctrl-C is raised by :meth:`check` between two epochs, the second one at once.

    An epoch is then whole or was not run: its weights, its row in the history and its choice as best belong together.
    """

    def __init__(self) -> None:
        self.requested = False
        self._previous: Any = None

    def __enter__(self) -> Interruption:
        heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in a job that ignores it
        if heeded and threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            self._previous = None

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self.requested:
            raise KeyboardInterrupt


class ScreenObserver(Observer):
    """Shows a run: a bar for each stage, and warnings as sentences.

    Args:
        screen: where to show it.
        training: what to call the training beside its bar.
    """

    def __init__(self, screen: Screen, training: str = "training"):
        self.screen = screen
        self.training = training

    def warned(self, stage: str, sentence: str) -> None:
        """Write a warning to stderr, with the stage unless it is training."""
        later = stage != "training"
        self.screen.warn(f"While {stage}: {sentence[0].lower()}{sentence[1:]}" if later else sentence)

    def trying(self, method: str, epochs: int) -> AbstractContextManager[Watch]:
        """Show a bar for a candidate."""
        return self.screen.progress(f"trying {method}", epochs)

    @contextmanager
    def working(self, stage: str, epochs: int) -> Iterator[Watch]:
        """Show a bar for a stage; Ctrl-C ends the stage after the current epoch."""
        label = self.training if stage == "training" else stage
        with Interruption() as interruption, self.screen.progress(label, epochs) as show:

            def watch(epoch: int, quantities: dict[str, float]) -> None:
                show(epoch, quantities)
                interruption.check()

            yield watch
        self.interrupted = self.interrupted or interruption.requested
