"""History: what happened in each epoch, column by column; and how a training ended."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

# called after every epoch with its number, counted from 1, and its quantities by name
Watcher = Callable[[int, dict[str, float]], None]


class History:
    """One row an epoch; a quantity that an epoch did not have (a loss still in warm-up) is NaN.

    >>> history = History()
    >>> history.append(epoch=1, total=2.0)
    >>> history.append(epoch=2, total=1.5, kl=0.1)
    >>> history["kl"]
    array([nan, 0.1])
    >>> len(history), history.last()["total"]
    (2, 1.5)
    """

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []

    def append(self, **quantities: float) -> None:
        """Add the row of an epoch."""
        self.rows.append(quantities)

    @property
    def columns(self) -> list[str]:
        """Names of all quantities, in the order they first appeared."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self.columns:
            raise KeyError(f"No quantity {column!r} in the history; it has {', '.join(self.columns)}.")
        return np.array([row.get(column, np.nan) for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return iter(self.rows)

    def last(self) -> dict[str, float]:
        """A copy of the last row, empty before the first epoch."""
        return dict(self.rows[-1]) if self.rows else {}

    def at(self, epoch: int) -> dict[str, float]:
        """The row of an epoch.

        Args:
            epoch: counted from 1; 0 stands for the first weights.

        Returns:
            Quantities by name; empty if the epoch was not run.
        """
        return next((dict(row) for row in self.rows if row["epoch"] == epoch), {})

    def to_csv(self) -> str:
        """A table with a header; missing quantities are empty cells."""
        text = io.StringIO()
        writer: Any = csv.DictWriter(text, self.columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()


@dataclass(frozen=True)
class TrainingResult:
    """What a training gives beside the weights now in the network.

    Attributes:
        history: what happened in each epoch.
        best_epoch: the epoch that the weights are from; 0: the first weights.
        termination: why it ended, in words.
        seconds: how long it took, earlier parts of a resumed training included.
    """

    history: History
    best_epoch: int
    termination: str
    seconds: float
