"""A store with made-up records, and the runs they are of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ncgc_bench.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


@pytest.fixture
def fill(store: Store, record: Callable[..., dict[str, Any]]) -> Callable[..., None]:
    """Stores a record for each entry of a plan; the accuracy from a function of the entry, None to leave it out."""

    def fill(entries: Any, accuracy: Callable[[Any], float | None], **more: Any) -> None:
        for entry in entries:
            value = accuracy(entry)
            if value is not None and store.find(entry.run) is None:
                store.add("table", record(entry.run, value, **more))

    return fill
