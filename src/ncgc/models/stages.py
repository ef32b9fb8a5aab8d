"""Training in several stages, reported as one."""

from __future__ import annotations

from collections.abc import Sequence

from ncgc.training import History, TrainingResult, Watcher


def later(watch: Watcher | None, before: Sequence[TrainingResult]) -> Watcher | None:
    """A watcher for a later stage, which counts on from the epochs of those before.

    Args:
        watch: the watcher of the whole training.
        before: the stages that are done.

    Returns:
        A watcher of the next stage; None where there is none.

    >>> later(lambda epoch, quantities: print(epoch), [])(1, {})
    1
    """
    if watch is None:
        return None
    offset = sum(len(stage.history) for stage in before)
    return lambda epoch, quantities: watch(offset + epoch, quantities)


def interrupted(stages: Sequence[TrainingResult]) -> bool:
    """Whether Ctrl-C ended the latest stage, so that no other should begin.

    Args:
        stages: the stages so far.

    Returns:
        False if there are none.
    """
    return bool(stages) and stages[-1].termination == "interrupted"


def joined(stages: Sequence[TrainingResult]) -> TrainingResult:
    """Stages one after another as one training.

    Args:
        stages: at least one.

    Returns:
        A result whose epochs are counted through, with a column ``stage`` in the history; the epoch kept is that of the last.
    """
    history, offset, seconds = History(), 0, 0.0
    best = 0
    for number, stage in enumerate(stages, start=1):
        for row in stage.history:
            rest = {name: value for name, value in row.items() if name not in ("epoch", "seconds")}
            history.append(epoch=offset + row["epoch"], stage=number, **rest, seconds=seconds + row["seconds"])
        best = offset + stage.best_epoch
        offset, seconds = offset + len(stage.history), seconds + stage.seconds
    return TrainingResult(history, best, stages[-1].termination, seconds)
