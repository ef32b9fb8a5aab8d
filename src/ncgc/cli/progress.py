"""One `fit` on the command line: Ctrl-C ends it after the epoch at hand, and warnings become sentences."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from ncgc.cli.screen import Screen, Watch

if TYPE_CHECKING:
    from ncgc.datasets import Split
    from ncgc.graph import Graph
    from ncgc.models.ncgc import NCGC
    from ncgc.models.registry import Method


class Interruption:
    """Inside, the first Ctrl-C is remembered and raised by :meth:`check` between two epochs; the second at once.

    An epoch is then whole or was not run: its weights, its row in the history and its choice as best belong together.
    """

    def __init__(self) -> None:
        self.asked = False
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
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def check(self) -> None:
        if self.asked:
            raise KeyboardInterrupt


def fit(
    model: NCGC | Method,
    graph: Graph,
    split: Split,
    screen: Screen,
    label: str,
    how: Callable[[Watch], object] | None = None,
) -> bool:
    """Fit with a bar and return whether Ctrl-C was pressed; the model is fitted to its best epoch either way.

    ``how`` fits with a watcher, where that is not ``model.fit``.
    """
    with (
        warnings.catch_warnings(record=True) as caught,
        Interruption() as interruption,
        screen.progress(label, getattr(model, "epochs", 1)) as show,
    ):
        warnings.simplefilter("always")

        def watch(epoch: int, quantities: dict[str, float]) -> None:
            show(epoch, quantities)
            interruption.check()

        if how is None:
            model.fit(graph, split, watch=watch)
        else:
            how(watch)
    for warning in caught:
        if issubclass(warning.category, RuntimeWarning):  # ours; the libraries' own are not a person's concern
            screen.warn(str(warning.message))
    return interruption.asked
