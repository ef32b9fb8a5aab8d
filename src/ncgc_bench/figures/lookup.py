"""From a plan and the store to the values of a figure: the runs of each cell, their mean and spread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ncgc.errors import ParameterError
from ncgc.params.presets import preset
from ncgc_bench.plans import BACKBONES, DATASETS, Entry
from ncgc_bench.store import Store

Key = TypeVar("Key")
Cells = dict[Key, dict[int, dict[str, Any]]]  # cell → seed → record


@dataclass(frozen=True)
class Summary:
    """Mean, sample standard deviation (0 for one run) and number of runs.

    >>> Summary.of([80.0, 82.0])
    Summary(mean=81.0, deviation=1.4142135623730951, runs=2)
    """

    mean: float
    deviation: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary:
        """Summarise some values.

        Args:
            values: at least one.

        Returns:
            Their mean, deviation and number.
        """
        return cls(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values))


def gather(entries: Iterable[Entry], store: Store, by: Callable[[Entry], Key]) -> Cells[Key]:
    """Look up the runs of a plan in the store.

    Args:
        entries: the plan.
        store: the stored runs.
        by: entry → its cell.

    Returns:
        Cell → seed → record, in the order of the plan; a cell without any record is left out.
    """
    cells: Cells[Key] = {}
    for entry in entries:
        record = store.find(entry.run)
        if record is not None:
            cells.setdefault(by(entry), {})[entry.run.seed] = record
    return cells


def accuracy_of(records: Mapping[int, Mapping[str, Any]]) -> Summary:
    """Summarise the test accuracy of a cell.

    Args:
        records: seed → record, at least one.

    Returns:
        The summary, in per cent.
    """
    return Summary.of([100 * record["test_accuracy"] for record in records.values()])


def covered(settings: str) -> dict[str, tuple[str, ...]]:
    """The backbones and data sets that named settings cover.

    Args:
        settings: name of the settings.

    Returns:
        Backbone → data sets.

    Raises:
        ParameterError: the settings are unknown, or cover nothing.

    >>> covered("paper")["gat"][:2], "appnp" in covered("paper")
    (('cora', 'citeseer'), False)
    """
    found: dict[str, tuple[str, ...]] = {}
    problem: ParameterError | None = None
    for backbone in BACKBONES:
        named = []
        for dataset in DATASETS:
            try:
                preset(settings, backbone, dataset)
                named.append(dataset)
            except ParameterError as error:
                problem = error
        if named:
            found[backbone] = tuple(named)
    if not found and problem is not None:
        raise problem
    return found


def runs_in_words(cells: Iterable[Mapping[int, Any]]) -> str:
    """How many runs the cells have, in words.

    Args:
        cells: seed → record of each, at least one.

    Returns:
        The text.

    >>> runs_in_words([{0: 1}, {0: 1, 1: 1}]), runs_in_words([{0: 1}])
    ('1 to 2 runs', '1 run')
    """
    counts = [len(cell) for cell in cells]
    low, high = min(counts), max(counts)
    return (f"{low} to {high}" if low != high else str(low)) + (" run" if high == 1 else " runs")
