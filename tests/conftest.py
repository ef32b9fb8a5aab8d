"""Fixtures for every test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, settings
from scipy import sparse
from torch import Tensor

from ncgc import Graph, Split
from ncgc.cli import main
from ncgc.ops import Reduction
from ncgc.runs.spec import RunSpec

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


# -------------------------------------------------------------------- the command as a person runs it

QUICK = ("--epochs", "6", "--warmup", "2", "--ramp", "1", "--hidden", "8")
BRIEF = ("--epochs", "12", "--warmup", "3", "--ramp", "2", "--hidden", "8")


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The last line on stdout."""
        return json.loads(self.out.splitlines()[-1])


@pytest.fixture
def ncgc(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Outcome]:
    """Runs the command in this process, with no data but the digits and no network."""
    from ncgc.datasets import registry

    def offline(*_: object) -> None:
        raise registry.DownloadError("there is no network")

    monkeypatch.delenv("NCGC_DATA", raising=False)
    monkeypatch.setattr(registry, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(registry, "_fetch", offline)

    def run(*words: object) -> Outcome:
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def quick(ncgc: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """A training of a moment on the digits."""
    return lambda *words: ncgc("train", "digits", *QUICK, *words)


@pytest.fixture
def interrupted() -> Callable[..., Outcome]:
    """Runs the command in a process of its own and sends Ctrl-C, or another signal, when stderr shows a word.

    The word ``epoch`` comes with the first line of progress, so that training is under way by then.
    """

    def run(*words: object, after: str, number: int = signal.SIGINT) -> Outcome:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            [sys.executable, "-c", "import sys; from ncgc.cli import main; sys.exit(main())", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert process.stderr is not None
        seen = ""
        while after not in seen:
            line = process.stderr.readline()
            assert line, seen
            seen += line
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=600)
        finally:
            process.kill()
        return Outcome(process.returncode, out, seen + err)

    return run


@pytest.fixture
def tables(tmp_path: Path, make_tables: Callable[..., Any]) -> Callable[..., list[str]]:
    """Writes a graph of 48 nodes as nodes.csv and edges.csv; the words that name them to `ncgc fit`."""

    def write(**options: Any) -> list[str]:
        words = []
        for name, frame in zip(("nodes", "edges"), make_tables(**options), strict=True):
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
            words += [f"--{name}", str(tmp_path / f"{name}.csv")]
        return words

    return write


@pytest.fixture
def fit(ncgc: Callable[..., Outcome], tables: Callable[..., list[str]], tmp_path: Path) -> Callable[..., Outcome]:
    """A fit of a moment to the folder `run`, without calibration and report unless they are asked for."""

    def run(*words: object, given: list[str] | None = None, out: str = "run", lean: bool = True) -> Outcome:
        lately = ("--folds", 0, "--no-report") if lean else ("--folds", 2)
        return ncgc("fit", *(tables() if given is None else given), "--out", tmp_path / out, *BRIEF, *lately, *words)

    return run


# -------------------------------------------------------------------- stored runs


def _record(run: RunSpec, accuracy: float = 0.8, **more: Any) -> dict[str, Any]:
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


@pytest.fixture(scope="session")
def record() -> Callable[..., dict[str, Any]]:
    """A stored record of a run, with made-up figures."""
    return _record
