"""Stages: training in several descents, told as one."""

from __future__ import annotations

from collections.abc import Sequence

from ncgc.training import History, TrainingResult, Watcher


def later(watch: Watcher | None, before: Sequence[TrainingResult]) -> Watcher | None:
    """A watcher that counts on from the epochs of the descents before.

    >>> later(lambda epoch, quantities: print(epoch), [])(1, {})
    1
    """
    if watch is None:
        return None
    offset = sum(len(part.history) for part in before)
    return lambda epoch, quantities: watch(offset + epoch, quantities)


def interrupted(parts: Sequence[TrainingResult]) -> bool:
    """Whether somebody pressed Ctrl-C in the latest descent: no other one is begun then."""
    return bool(parts) and parts[-1].termination == "interrupted"


def joined(parts: Sequence[TrainingResult]) -> TrainingResult:
    """Descents one after another as one: epochs counted through, a column ``stage``; kept is the last one's epoch."""
    history, offset, seconds = History(), 0, 0.0
    best = 0
    for stage, part in enumerate(parts, start=1):
        for row in part.history:
            rest = {name: value for name, value in row.items() if name not in ("epoch", "seconds")}
            history.append(epoch=offset + row["epoch"], stage=stage, **rest, seconds=seconds + row["seconds"])
        best = offset + part.best_epoch
        offset, seconds = offset + len(part.history), seconds + part.seconds
    return TrainingResult(history, best, parts[-1].termination, seconds)
