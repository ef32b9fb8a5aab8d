"""A store with made-up records, and the runs they are of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ncgc.runs.spec import RunSpec
from ncgc_bench.store import Store


def record_of(run: RunSpec, accuracy: float = 0.8, **more: Any) -> dict[str, Any]:
    """What `execute` would give for a run, with this accuracy."""
    return {
        "dataset": run.dataset.name,
        "split": run.dataset.split,
        "labels_per_class": run.dataset.labels_per_class,
        "seed": run.seed,
        "method": run.method,
        "blind": run.dataset.blind,
        "test_accuracy": accuracy,
        "val_accuracy": accuracy,
        "test_macro_f1": accuracy,
        "test_calibration_error": 0.1,
        "seconds": 2.0,
        "peak_mib": 300.0,
        "settings": run.settings,
        "revision": "0123456789",
        **more,
    }


@pytest.fixture
def record() -> Callable[..., dict[str, Any]]:
    return record_of


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


@pytest.fixture
def fill(store: Store) -> Callable[..., None]:
    """Stores a record for each entry of a plan; the accuracy from a function of the entry, None to leave it out."""

    def fill(entries: Any, accuracy: Callable[[Any], float | None], **more: Any) -> None:
        for entry in entries:
            value = accuracy(entry)
            if value is not None and store.find(entry.run) is None:
                store.add("table", record_of(entry.run, value, **more))

    return fill
