"""One measurement of how training scales, in this process: its time, its peak memory and its results. See `measure`.

python -m ncgc_bench.scaling.worker '{"kind": "train", "folder": "…", …}'        prints one JSON line
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from ncgc.errors import ParameterError

if TYPE_CHECKING:
    from ncgc.datasets import Split
    from ncgc.graph import Graph

WARM_UP = 3  # first epochs that do not count: the first cuts the parts, the second begins clustering


def peak_mib() -> float:
    """Peak resident memory of this process, mapped files included (VmHWM).

    Returns:
        MiB.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def read_folder(folder: Path) -> tuple[Graph, Split]:
    """Read the graph and the split of a folder that `ncgc generate` wrote, as `ncgc fit` does.

    Args:
        folder: the folder.

    Returns:
        The graph and its split.
    """
    from ncgc.datasets.synthetic.folder import EDGES_FILE, NODES_FILE
    from ncgc.io import read_graph
    from ncgc.io.tables.labels import read_split
    from ncgc.io.tables.table import as_table

    nodes = as_table(folder / NODES_FILE, "nodes")
    features = next(file for file in (folder / "features.npy", folder / "features.npz") if file.exists())
    graph = read_graph(nodes, folder / EDGES_FILE, features=features).graph
    return graph, read_split(nodes, "split", graph)


def generate(task: dict[str, Any]) -> dict[str, Any]:
    """Time the generation of a graph.

    Args:
        task: ``model``, parameters of the block model, and ``folder``, where the graph is written.

    Returns:
        Seconds, and the number of edges.
    """
    from ncgc.datasets.synthetic.folder import write_graph
    from ncgc.datasets.synthetic.model import BlockModel

    model, start = BlockModel(**task["model"]), time.perf_counter()
    write_graph(task["folder"], model, overwrite=True)
    return {"seconds": time.perf_counter() - start, "edges": model.num_edges}


def read(task: dict[str, Any]) -> dict[str, Any]:
    """Time reading a graph, from Parquet and .npy to a checked Graph and Split.

    Args:
        task: ``folder``, where the graph is.

    Returns:
        Seconds, and the number of edges.
    """
    import ncgc.io.tables.read_graph  # noqa: F401 (imports are not timed)

    start = time.perf_counter()
    graph, _ = read_folder(Path(task["folder"]))
    return {"seconds": time.perf_counter() - start, "edges": graph.num_edges}


def train(task: dict[str, Any]) -> dict[str, Any]:
    """Time a training of NCGC in this process.

    Args:
        task: ``folder``, where the graph is, ``settings`` of NCGC and ``threads``.

    Returns:
        Seconds of reading, in all and of the median epoch after the first three, accuracies and the best epoch.
    """
    import torch

    from ncgc.models.ncgc import NCGC

    torch.set_num_threads(task["threads"])
    start = time.perf_counter()
    graph, split = read_folder(Path(task["folder"]))
    reading, ends = time.perf_counter() - start, [time.perf_counter()]
    model = NCGC(**task["settings"]).fit(graph, split, watch=lambda epoch, _: ends.append(time.perf_counter()))
    return _epochs(ends) | {
        "seconds": time.perf_counter() - start,
        "read_seconds": reading,
        "val_accuracy": model.score(nodes=split.val),
        "test_accuracy": model.score(),
        "best_epoch": model.best_epoch_,
    }


def ranks(task: dict[str, Any]) -> dict[str, Any]:
    """Time a training in full batch, in the processes of RANK and WORLD_SIZE.

    Args:
        task: ``folder``, where the graph is, ``settings`` of NCGC and ``threads`` of each process.

    Returns:
        Seconds of the median epoch after the first three; in the first process also the test accuracy.
    """
    import torch

    from ncgc.models.ncgc import NCGC
    from ncgc.training.engines.distributed.group import Group

    torch.set_num_threads(task["threads"])
    group = Group.join(timeout=1800)
    graph, split = read_folder(Path(task["folder"]))
    ends = [time.perf_counter()]
    model = NCGC(**task["settings"])
    model.fit(graph, split, watch=lambda epoch, _: ends.append(time.perf_counter()), group=group)
    found = _epochs(ends) | ({"test_accuracy": model.score()} if group.first else {})
    group.leave()
    return found


def _epochs(ends: list[float]) -> dict[str, Any]:
    took = [late - early for early, late in pairwise(ends)]
    later = took[WARM_UP:] or took[-1:]
    return {"epoch_seconds": median(later), "slowest": max(later), "fastest": min(later), "epochs": len(took)}


KINDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "generate": generate,
    "read": read,
    "train": train,
    "ranks": ranks,
}


def main(words: list[str]) -> int:
    """Take one measurement and print its result as one JSON line.

    Args:
        words: the command line: one word, the task in JSON.

    Returns:
        The exit code.

    Raises:
        ParameterError: for an unknown kind of measurement.
    """
    task = json.loads(words[0])
    if task["kind"] not in KINDS:
        raise ParameterError(f"A measurement is one of {', '.join(KINDS)}. Got {task['kind']!r} instead.")
    load = os.getloadavg()[0]
    found = KINDS[task["kind"]](task)
    print(json.dumps(found | {"peak_mib": peak_mib(), "load": load}), flush=True)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    os._exit(code)  # gloo's threads may still wait for a process that has ended
