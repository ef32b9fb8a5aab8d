"""Fixtures for every test."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, settings
from scipy import sparse
from torch import Tensor

from ncgc import Graph, Split
from ncgc.ops import Reduction

# the graphs of the tests are tiny: a second thread gains nothing, and on a busy machine waits for its turn at every product
torch.set_num_threads(1)

# a shell lets what it starts in the background ignore Ctrl-C, and the processes of the tests would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)

# an example that takes long says that the machine is busy, and nothing about the code
settings.register_profile("ncgc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ncgc")


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """The folder with the raw benchmark files; tests that need it are skipped where there is none."""
    root = os.environ.get("NCGC_DATA")
    if not root or not Path(root).is_dir():
        pytest.skip("needs the benchmark data: set NCGC_DATA to a folder with Cora/raw and the others")
    return Path(root)


@pytest.fixture(scope="session")
def make_planted():
    """A graph of three blocks whose features and edges say which, and a split of 3 training and 5 validation nodes a class."""

    def make(form: str = "dense", validation: bool = True, labels: np.ndarray | None = None) -> tuple[Graph, Split]:
        generator = np.random.default_rng(0)
        block = np.arange(45) % 3
        chance = np.where(block[:, None] == block, 0.3, 0.04)
        pairs = np.argwhere(np.triu(generator.random((45, 45)) < chance, 1))
        features = np.hstack([np.eye(3)[block], np.zeros((45, 4))]) + generator.normal(scale=0.8, size=(45, 7))
        if form == "sparse":  # one word of a block's twenty a node, or now and then of any
            column = np.where(generator.random(45) < 0.8, 20 * block, 0) + generator.integers(20, size=45)
            features = sparse.csr_array((np.ones(45), (np.arange(45), column)), shape=(45, 60))
        graph = Graph.from_edges(pairs, features, block if labels is None else labels)
        return graph, Split(np.arange(9), np.arange(9, 24) if validation else [], np.arange(24, 45))

    return make


class Shared(Reduction):
    """What one of several threads needs to sum with the others: processes without the processes."""

    alone = False

    def __init__(self, rank: int, slots: list[Tensor], barrier: threading.Barrier, owned: list[Tensor]):
        self.rank, self.slots, self.barrier, self.ids = rank, slots, barrier, owned

    def _all(self, values: Tensor) -> list[Tensor]:
        self.slots[self.rank] = values
        self.barrier.wait(600)
        found = [slot.clone() for slot in self.slots]
        self.barrier.wait(600)
        return found

    def total(self, values: Tensor) -> Tensor:
        return torch.stack(self._all(values)).sum(0)

    def highest(self, values: Tensor) -> Tensor:
        return torch.stack(self._all(values)).amax(0)

    def count(self, number: int) -> int:
        return int(self.total(torch.tensor(number)))

    def rows(self, values: Tensor, index: Tensor) -> Tensor:
        whole = torch.cat(self._all(values))[torch.cat(self.ids).argsort()]
        return whole[index]


@pytest.fixture(scope="session")
def in_shares():
    """``in_shares(function, ids)``: the results of ``function(reduction, rows)``, run at once for each share of the rows."""

    def run(function, ids: Sequence[Tensor]) -> list:
        slots: list = [None] * len(ids)
        barrier = threading.Barrier(len(ids))
        with ThreadPoolExecutor(len(ids)) as pool:
            jobs = [pool.submit(function, Shared(i, slots, barrier, list(ids)), rows) for i, rows in enumerate(ids)]
            return [job.result() for job in jobs]

    return run


@pytest.fixture(scope="session")
def make_tables():
    """A table of nodes and one of edges: three blocks with an id, a label (of the first few), an age and a town."""

    def make(
        labelled: int = 18, ids: Sequence[str] | None = None, classes: Sequence[str] = ("eggs", "ham", "spam")
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        generator = np.random.default_rng(0)
        block = np.arange(48) % 3
        names = np.array([f"n{node:02}" for node in range(48)] if ids is None else list(ids), dtype=object)
        chance = np.where(block[:, None] == block, 0.3, 0.03)
        pairs = np.argwhere(np.triu(generator.random((48, 48)) < chance, 1))
        nodes = pd.DataFrame(
            {
                "id": names,
                "label": np.where(np.arange(48) < labelled, np.array(classes, dtype=object)[block], None),
                "age": (10 * block + generator.normal(scale=4, size=48)).round(2),
                "town": np.array(["Ulm", "Bern", "Graz"])[(block + (generator.random(48) < 0.3)) % 3],
            }
        )
        return nodes, pd.DataFrame({"source": names[pairs[:, 0]], "target": names[pairs[:, 1]]})

    return make
