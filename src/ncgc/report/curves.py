"""Training as curves: which quantities are drawn, in what order, under what name, and where the warm-up ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ncgc.report.data import ReportData

NAMES = {
    "total": ("Total loss", "the sum that training makes small"),
    "class": ("Loss on the labels", "cross-entropy on the nodes with a given label"),
    "kl": ("Clustering loss", "how far the clusters are from sharp ones"),
    "pl": ("Pseudo-label loss", "cross-entropy on balanced guesses"),
    "val_accuracy": ("Validation accuracy", "on labels kept aside to choose the epoch"),
    "val_loss": ("Validation loss", "on the same nodes"),
    "moved": ("Labels that changed", "share of nodes, since the rule last looked"),
}
LATE = ("kl", "pl")  # what joins after the warm-up
HELD = ("moved",)  # measured once in a while, and true until it is measured again
LEFT_OUT = ("epoch", "seconds", "marginal_error")
MOST_POINTS = 600  # of a curve; more than a screen has pixels for


def training_curves(data: ReportData) -> dict[str, Any] | None:
    """The curves in the order they are drawn; None where no epoch left a number."""
    columns = {name: [_finite(value) for value in values] for name, values in data.history.items()}
    columns |= {name: _held(columns[name]) for name in HELD if name in columns}
    epochs = _epochs(columns)
    wanted = [name for name in NAMES if name in columns] + [name for name in columns if name not in {*NAMES, *LEFT_OUT}]
    drawn = [name for name in wanted if any(value is not None for value in columns[name])]
    if not drawn or not epochs:
        return None
    starts = [first for name in LATE if name in columns and (first := _first(columns[name])) is not None]
    kept = _kept(len(epochs))
    return {
        "epochs": [epochs[i] for i in kept],
        "warmup": epochs[min(starts)] if starts and min(starts) > 0 else None,
        "best": data.best_epoch,
        "curves": [
            {
                "title": NAMES.get(name, (name, ""))[0],
                "words": NAMES.get(name, (name, ""))[1],
                "share": name in ("val_accuracy", "moved"),
                "values": [columns[name][i] for i in kept],
            }
            for name in drawn
        ],
    }


def _epochs(columns: dict[str, list[float | None]]) -> list[float]:
    counted: list[float] = [float(i + 1) for i in range(len(next(iter(columns.values()), [])))]
    given = columns.get("epoch", [])
    return (
        [count if value is None else value for count, value in zip(counted, given, strict=True)] if given else counted
    )


def _kept(count: int) -> list[int]:
    """Which epochs are drawn: all, or every second, third, ..., and always the last.

    >>> _kept(3), _kept(1500)[-2:]
    ([0, 1, 2], [1497, 1499])
    """
    return sorted({*range(0, count, math.ceil(count / MOST_POINTS)), count - 1})


def _first(values: Sequence[float | None]) -> int | None:
    return next((i for i, value in enumerate(values) if value is not None), None)


def _held(values: Sequence[float | None]) -> list[float | None]:
    """
    >>> _held([None, 0.2, None, None, 0.1, None])
    [None, 0.2, 0.2, 0.2, 0.1, 0.1]
    """
    held: list[float | None] = []
    for value in values:
        held.append(value if value is not None or not held else held[-1])
    return held


def _finite(value: float | None) -> float | None:
    """Five significant figures: more than a screen shows, and half the file."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.5g}")
