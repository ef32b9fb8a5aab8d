"""One Run made: from its description to a record with what it reached, what it cost and what made it."""

from __future__ import annotations

import math
import platform
import subprocess
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ncgc import __version__
from ncgc.datasets import Split, load_dataset, make_split
from ncgc.evaluation.metrics import accuracy, expected_calibration_error, macro_f1
from ncgc.graph import Graph
from ncgc.models.ncgc import NCGC
from ncgc.models.registry import find_method
from ncgc.runs.spec import Run


class Interrupted(Exception):
    """The run was stopped before its end; nothing of it may be stored."""


def execute(run: Run, root: str | None = None) -> dict[str, Any]:
    """Train and measure. Everything is measured with one fitted model, on the nodes of the split."""
    graph = _graph(run.dataset, root)
    split = make_split(graph, run.split, seed=run.seed, labels_per_class=run.labels_per_class)
    test, val, truth = split.test, split.val, graph.labels
    if run.blind:
        split = replace(split, val=val[:0])
    model: Any
    if run.method == "ncgc":
        model = NCGC(**{**run.parameters, "random_state": run.seed})
    else:
        method = find_method(run.method)
        model = method(**run.parameters, **({"random_state": run.seed} if "random_state" in method.PARAMETERS else {}))
    _forget_peak()
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(graph, split)
    seconds = time.perf_counter() - start
    if getattr(model, "termination_", "") == "interrupted":
        raise Interrupted
    probabilities = model.predict_proba()
    predicted = probabilities.argmax(axis=1)
    record: dict[str, Any] = {
        "dataset": run.dataset,
        "split": run.split,
        "labels_per_class": run.labels_per_class,
        "seed": run.seed,
        "method": run.method,
        "blind": run.blind,
        "test_accuracy": accuracy(predicted[test], truth[test]),
        "val_accuracy": accuracy(predicted[val], truth[val]) if len(val) else None,
        "macro_f1": macro_f1(predicted[test], truth[test], graph.num_classes),
        "ece": expected_calibration_error(probabilities[test], truth[test]),
        "seconds": round(seconds, 3),
        "peak_mib": _peak(),
    }
    if len(model.history_):
        record |= {
            "best_epoch": model.best_epoch_,
            "epochs": len(model.history_),
            "termination": model.termination_,
        }
    # ours; the libraries' own are nobody's concern
    said = list(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)))
    record |= {"warnings": said} if said else {}
    record |= {"settings": run.settings, "version": __version__, **_made_with()}
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in record.items()
    }


def prepare() -> None:
    """Load all that a training uses and note the code's revision, so that the first run of a process is timed like any other."""
    _made_with()
    graph = Graph.from_edges([[0, 1], [1, 2], [2, 3]], np.eye(4), labels=[0, 0, 1, 1])
    NCGC(hidden=2, epochs=2, warmup=0, ramp=0).fit(graph, Split(np.array([0, 3]), np.array([1, 2]), np.array([])))


@lru_cache(maxsize=2)
def _graph(name: str, root: str | None) -> Graph:
    return load_dataset(name, root=root)


@cache
def _made_with() -> dict[str, Any]:
    return {
        "revision": revision(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "threads": torch.get_num_threads(),
    }


def revision() -> str | None:
    """The git revision of the code that runs, with a + when the code differs from it; None outside a repository."""
    package = Path(__file__).resolve().parent.parent
    try:
        head = _git(package, "rev-parse", "--short=10", "HEAD")
        # results and documents may be unsaved; code that makes a number may not, unsaid
        changed = _git(package, "status", "--porcelain", "--", str(package))
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+" if changed else "")


def _git(folder: Path, *words: str) -> str:
    # without optional locks: a look must not be in the way of somebody's commit
    command = ["git", "--no-optional-locks", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def _forget_peak() -> None:
    with suppress(OSError):  # not Linux: the peak is then that of the process
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float | None:
    """Peak resident memory in MiB since :func:`_forget_peak`, the data set and the libraries included."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    return None
