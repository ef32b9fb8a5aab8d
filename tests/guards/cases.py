"""What the guards run. Everything that is imported from ncgc, and every name of a parameter, is in the next section."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import multiprocessing
import os
import platform
import re
import runpy
import shlex
import shutil
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import scipy
import sklearn
import torch
from threadpoolctl import threadpool_limits

# ==================================================================== adjust after a rebuild: imports and names, nothing else
from ncgc import NCGC, Graph, Split, load_dataset, load_model, make_split
from ncgc.cli import main as command_line
from ncgc.models.registry import BASELINES
from ncgc.runs.spec import key_of_record
from ncgc.training.engines.distributed.group import Group
from ncgc_bench.store import Store

# Every parameter of NCGC, said outright: a default that changes must not change a result here.
NCGC_PARAMETERS: dict[str, Any] = {
    "backbone": "gcn",
    "hidden": 16,
    "num_layers": 2,
    "beta": 0.003,
    "dropout": 0.7,
    "input_dropout": "auto",
    "node_dropout": 0.0,
    "norm": "auto",
    "residual": False,
    "features": "centred",
    "heads": 1,
    "attention_dropout": 0.0,
    "alpha": 0.1,
    "theta": 0.5,
    "steps": 10,
    "soft_orthogonality": True,
    "kl": True,
    "pl": True,
    "sinkhorn": True,
    "label_loss_weight": 1.0,
    "kl_weight": 1.0,
    "pl_weight": 1.0,
    "epsilon": 0.5,
    "sinkhorn_iterations": 10,
    "relaxation": "auto",
    "prior": "uniform",
    "prior_shrinkage": 0.5,
    "prior_momentum": 0.9,
    "pseudo_label_source": "clean",
    "teacher": 0.9,
    "pseudo_label_scores": "log_probabilities",
    "centroids": "kmeans",
    "warmup": 4,
    "ramp": 3,
    "learning_rate": 0.02,
    "schedule": "late",
    "weight_decay": "auto",
    "decay_on": "all",
    "averaging": 0.0,
    "epochs": 12,
    "patience": 150,
    "weigh_validation": True,
    "choose_from": "settled",
    "batch": "full",
    "parts": 3,
    "halo": 1,
    "steps_per_epoch": 1,
    "random_state": 0,
}


def make_ncgc(**changed: Any) -> NCGC:
    """NCGC with all parameters given: those above, but for the changed ones."""
    return NCGC(**(NCGC_PARAMETERS | changed))


def make_method(name: str, **changed: Any) -> Any:
    """Another method under its name in the store; its own defaults, but for the changed ones."""
    return BASELINES[name](**changed)


def has_epochs(name: str) -> bool:
    return "epochs" in BASELINES[name].PARAMETERS


def fit_in_group(model: NCGC, graph: Graph, split: Split) -> NCGC:
    """Train in this process, one of those that RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT speak of."""
    return model.fit(graph, split, group=Group.join(120.0))


__all__ = ["BASELINES", "Graph", "Split", "Store", "load_model"]  # what the other files of this folder take from here
# ==================================================================== nothing below imports from ncgc

REFERENCE = Path(__file__).resolve().parent / "reference"
REVISION = "fb6c8c0"  # what the references were recorded with
EVERY = 40  # rows of which one is kept
METHOD_NAMES = (
    "label_propagation", "label_spreading", "logistic_regression", "mlp", "spectral_clustering",
    "gat", "gat_star", "gcn", "gcn_star", "sage", "sage_star", "sgc",
    "appnp", "dagnn", "gcnii", "gprgnn", "jknet", "mlp_ppr",
    "grand", "graphmix", "violin",
    "m3s", "meta_pn", "normprop", "pta", "self_training",
)  # fmt: skip


def machine() -> dict[str, str]:
    """What decides the order in which numbers are summed: where all of it is equal, results are equal to the bit."""
    wanted = ("model name", "cpu family", "model", "stepping")
    found = {"cpu": platform.processor()}
    with contextlib.suppress(OSError):
        pairs = [line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines()]
        first: dict[str, str] = {}
        for name, _, value in pairs:
            first.setdefault(name.strip(), value.strip())
        found["cpu"] = ", ".join(first.get(name, "") for name in wanted)
    # the kernels that torch chose, which an environment variable may lower
    found["kernels"] = torch.backends.cpu.get_cpu_capability()
    versions = {"torch": torch, "numpy": np, "scipy": scipy, "sklearn": sklearn}
    return found | {name: module.__version__ for name, module in versions.items()}


# -------------------------------------------------------------------- predictions


@cache
def digits(validation: bool = True) -> tuple[Graph, Split]:
    """The digits with 5 training nodes a class, and 30 validation nodes a class or none."""
    graph = load_dataset("digits")
    split = make_split(graph, "random", seed=0, labels_per_class=5, val_per_class=30)
    return graph, split if validation else replace(split, val=split.val[:0])


def _alone(validation: bool = True, **changed: Any) -> Callable[[], dict[str, Any]]:
    return lambda: answers(make_ncgc(**changed).fit(*digits(validation)))


def _method(name: str, validation: bool) -> Callable[[], dict[str, Any]]:
    def run() -> dict[str, Any]:
        model = make_method(name, **({"epochs": 6} if has_epochs(name) else {}))
        return answers(model.fit(*digits(validation)))

    return run


def _processes(**changed: Any) -> Callable[[], dict[str, Any]]:
    return lambda: run_distributed(2, **changed)


def _cases() -> dict[str, Callable[[], dict[str, Any]]]:
    found: dict[str, Callable[[], dict[str, Any]]] = {}
    heads = {"gat": {"heads": 2}}
    for backbone in ("gcn", "gat", "sage", "gcnii", "appnp"):
        for batch in ("full", "partitions"):
            found[f"ncgc-{backbone}-{batch}"] = _alone(backbone=backbone, batch=batch, **heads.get(backbone, {}))
    found["ncgc-gcn-partitions-two-steps"] = _alone(batch="partitions", steps_per_epoch=2)
    found["ncgc-gcn-full-averaging"] = _alone(averaging=0.9)
    found["ncgc-gcn-full-no-validation"] = _alone(validation=False)
    for backbone in ("gcn", "sage", "gcnii", "appnp"):
        for batch in ("full", "partitions"):
            found[f"processes-{backbone}-{batch}"] = _processes(backbone=backbone, batch=batch)
    for name in METHOD_NAMES:
        found[f"method-{name}"] = _method(name, True)
        found[f"method-{name}-no-validation"] = _method(name, False)
    return found


CASES = _cases()


def run_case(name: str) -> dict[str, Any]:
    """What a case comes to, with one thread: see :func:`answers`."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        return CASES[name]()


def answers(model: Any) -> dict[str, Any]:
    """Digests of logits and embeddings, how training ended, and a sample of the logits."""
    logits = np.ascontiguousarray(model.decision_function(), dtype=np.float64)
    try:
        embeddings = digest(model.transform())
    except ValueError:  # of the methods without any; a GraphError
        embeddings = None
    return {
        "logits": digest(logits),
        "embeddings": embeddings,
        "best_epoch": int(model.best_epoch_),
        "termination": model.termination_,
        "sample": logits[::EVERY].astype(np.float32),
    }


def digest(values: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def run_distributed(size: int, **changed: Any) -> dict[str, Any]:
    """:func:`answers` of the first of several processes, forked from this one; all must keep the same epoch."""
    digits()  # read once, before forking
    make_ncgc(epochs=2, warmup=1, ramp=1).fit(*digits())  # imports what a training imports late
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe(duplex=False) for _ in range(size)]
    children = [
        context.Process(target=_child, args=(rank, size, port, pipes[rank][1], changed), daemon=True)
        for rank in range(size)
    ]
    for child in children:
        child.start()
    for _, sender in pipes:
        sender.close()
    found = []
    try:
        for receiver, _ in pipes:
            assert receiver.poll(300), "a process said nothing"
            found.append(receiver.recv())
    finally:
        for child in children:
            child.kill()
            child.join(60)
    for result in found:
        assert isinstance(result, dict), result
    assert len({result["best_epoch"] for result in found}) == 1
    return found[0]


def _child(rank: int, size: int, port: int, pipe: Any, changed: dict[str, Any]) -> None:
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    try:
        torch.set_num_threads(1)
        model = fit_in_group(make_ncgc(**changed), *digits())
        pipe.send(answers(model) if rank == 0 else {"best_epoch": int(model.best_epoch_)})
    except BaseException:
        pipe.send(traceback.format_exc())
    finally:
        pipe.close()
        os._exit(0)  # what the parent's tests registered for their end is not ours to run


# -------------------------------------------------------------------- keys

REQUIRED = ("dataset", "split", "labels_per_class", "seed", "method", "settings", "test_accuracy")


def keys_of_file(path: Path, lines: int | None = None) -> list[tuple[int, str]]:
    """(line number, key) of every run in the first so many lines of a file of the store."""
    found = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:lines], start=1):
        try:
            record = json.loads(line)
        except ValueError:  # blank, or cut short by a crash
            continue
        if isinstance(record, dict) and set(REQUIRED) <= set(record) and isinstance(record["settings"], dict):
            found.append((number, key_of_record(record)))
    return found


def digest_of_keys(keys: list[tuple[int, str]]) -> str:
    return hashlib.sha256("".join(f"{number} {key}\n" for number, key in keys).encode()).hexdigest()


# -------------------------------------------------------------------- tables

PAGES = ("README.md", "docs/leaderboard.md", "docs/findings.md", "docs/scaling.md")
COMMAND = re.compile(r"<!-- ((?:ncgc bench show|python benchmarks/\w+\.py --show)[^\n]*?) -->\n")


def freeze(root: Path, folder: Path) -> Path:
    """Copy what the tables are made of: scripts, studies, and of every file of results the lines that were recorded."""
    benchmarks = folder / "benchmarks"
    (benchmarks / "results").mkdir(parents=True)
    for script in (root / "benchmarks").glob("*.py"):
        shutil.copy(script, benchmarks)
    shutil.copytree(root / "benchmarks" / "studies", benchmarks / "studies")
    for name, about in json.loads((REFERENCE / "keys.json").read_text())["files"].items():
        kept = (root / "benchmarks" / "results" / name).read_bytes().splitlines(keepends=True)[: about["lines"]]
        (benchmarks / "results" / name).write_bytes(b"".join(kept))
    return folder


def printed(command: str, folder: Path) -> str:
    """What a command prints to stdout when run in a folder, in this process."""
    words = shlex.split(command)
    out = io.StringIO()
    plain = mock.patch.dict(os.environ, {"COLUMNS": "120", "NO_COLOR": "1"})  # whatever the terminal
    argv = mock.patch.object(sys, "argv", words[1:])
    with contextlib.redirect_stdout(out), contextlib.chdir(folder), plain, argv:
        if words[0] == "ncgc":
            code = command_line(words[1:])
        else:
            try:
                runpy.run_path(str(folder / words[1]), run_name="__main__")
                code = 0
            except SystemExit as end:
                code = end.code or 0
    assert code == 0, f"'{command}' ended with exit code {code}"
    return out.getvalue()


# -------------------------------------------------------------------- model files


def tiny(seed: int = 0, nodes: int = 40) -> tuple[Graph, Split]:
    """A graph of three blocks with names for nodes and classes, and 4 training and 4 validation nodes a class."""
    generator = np.random.default_rng(seed)
    block = np.arange(nodes) % 3
    chance = np.where(block[:, None] == block, 0.3, 0.04)
    pairs = np.argwhere(np.triu(generator.random((nodes, nodes)) < chance, 1))
    features = np.hstack([np.eye(3)[block], np.zeros((nodes, 3))]) + generator.normal(scale=0.7, size=(nodes, 6))
    names = [f"node {number:02}" for number in range(nodes)]
    graph = Graph.from_edges(pairs, features, block, classes=["eggs", "ham", "spam"], node_ids=names, name="tiny")
    return graph, Split(np.arange(12), np.arange(12, 24), np.arange(24, nodes))


_FEW = {"hidden": 4, "epochs": 10, "warmup": 3, "ramp": 2}
# name: how the model is made; the calibrated ones are so before they are saved
MODELS: dict[str, Callable[[], Any]] = {
    "ncgc-gcn": lambda: make_ncgc(**_FEW),
    "ncgc-appnp": lambda: make_ncgc(backbone="appnp", **_FEW),
    "ncgc-gcn-partitions": lambda: make_ncgc(batch="partitions", parts=2, **_FEW),
    "gcn": lambda: make_method("gcn", epochs=10),
    "logistic_regression": lambda: make_method("logistic_regression"),
    "sgc": lambda: make_method("sgc", epochs=10),
    "appnp": lambda: make_method("appnp", epochs=10, hidden=8),
}
CALIBRATED = ("ncgc-appnp", "sgc")
