"""One full NCGC training epoch, three ways, side by side in one process on the same weights.

An epoch is: forward pass with dropout, the three losses with Sinkhorn, backward pass, Adam's step. The ways are `ours`;
`edge_index`, the PyG reference (the same model on PyG layers) with edge_index; `csr`, the PyG reference with a CSR
adjacency (GCN only). `floor` is the dense and sparse products of our epoch alone, on preallocated buffers. Times are
medians, the ways taking turns, after a warm-up. First, the losses of all ways are compared over three steps without
dropout; a difference over 1e-4 is an error.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

from ncgc.datasets import load_dataset, make_split
from ncgc.errors import ParameterError, TrainingError
from ncgc.graph import Graph
from ncgc.io.formats.pyg import to_pyg
from ncgc.losses import Objective, initial_centroids
from ncgc.models.ncgc import NCGC
from ncgc.models.ncgc_components import make_network, make_objective, weight_decay
from ncgc.nn import SOGN, GraphOperators, Output
from ncgc.ops import kept_memory
from ncgc.params.presets import preset
from ncgc_bench.speed.floor import floor
from ncgc_bench.speed.pyg_reference_ncgc import ReferenceNCGC, csr_adjacency, edge_index

# backbone → the ways to do its epoch; PyG's GATConv works edge by edge, so CSR is no way of its own
WAYS = {"gcn": ("ours", "edge_index", "csr"), "gat": ("ours", "edge_index")}
TOLERANCE = 1e-4  # relative difference of the losses up to which two ways compute the same


@dataclass(frozen=True)
class Options:
    """What to measure, always at the paper's settings.

    Args:
        backbone: one of :data:`WAYS`.
        heads: attention heads of GAT.
        rounds: timed turns of each way, after one that warms up.
        memory: whether to measure peak memory too.
        data: folder of the data sets; None for NCGC_DATA or the user's cache.

    Raises:
        ParameterError: the backbone is not measured, or a count is below 1.
    """

    backbone: str = "gcn"
    heads: int = 1
    rounds: int = 7
    memory: bool = False
    data: str | None = None

    def __post_init__(self) -> None:
        if self.backbone not in WAYS:
            raise ParameterError(f"Speed is measured on {' and '.join(WAYS)}. Got {self.backbone!r} instead.")
        for name in ("heads", "rounds"):
            if getattr(self, name) < 1:
                raise ParameterError(f"--{name} must be a whole number from 1. Got {getattr(self, name)} instead.")


class Epoch:
    """One way to do a training epoch; calling it does one and returns the loss.

    Args:
        network: what is trained.
        forward: its forward pass over the whole graph.
        objective: the three losses.
        centroids: (K, d) first cluster centroids, trained too.
        learning_rate: of Adam.
        weight_decay: of the network's weights; centroids have none.
        fused: whether Adam steps in one fused kernel, as ours does; the references take Adam as it comes.
    """

    def __init__(
        self,
        network: nn.Module,
        forward: Callable[[], Output],
        objective: Objective,
        centroids: Tensor,
        learning_rate: float,
        weight_decay: float,
        fused: bool,
    ):
        self.network, self.forward, self.objective = network, forward, objective
        self.centroids = nn.Parameter(centroids.clone())
        groups: list[dict[str, Any]] = [
            {"params": list(network.parameters()), "weight_decay": weight_decay},
            {"params": [self.centroids], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.Adam(groups, lr=learning_rate, fused=fused or None)

    def __call__(self) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        output = self.forward()
        parts = self.objective(output.embeddings, output.logits, self.centroids, 1)
        total = self.objective.total(parts, 1)
        total.backward()
        self.optimizer.step()
        return total.item()


def make_epochs(
    graph: Graph, backbone: str, heads: int, ways: tuple[str, ...], dropout: float | None = None
) -> tuple[dict[str, Epoch], SOGN]:
    """Make the epochs of several ways from the same weights, at the paper's settings.

    Args:
        graph: one of the paper's data sets.
        backbone: one of :data:`WAYS`.
        heads: attention heads of GAT.
        ways: of ``WAYS[backbone]``.
        dropout: in place of the paper's, None to keep it.

    Returns:
        The epochs by way, and our network.
    """
    settings = preset("paper", backbone, graph.name) | ({} if dropout is None else {"dropout": dropout})
    parameters = NCGC(**settings, heads=heads).get_params(deep=False)
    split = make_split(graph, "paper")
    network = make_network(parameters, graph, torch.Generator().manual_seed(0)).train()
    operators = GraphOperators(graph)
    with torch.no_grad():
        start = initial_centroids(network.eval()(operators).embeddings, graph.num_classes, "random", 0)
    network.train()
    generator = torch.Generator().manual_seed(1)
    rate, decay = parameters["learning_rate"], weight_decay(parameters, graph)
    epochs: dict[str, Epoch] = {}
    for way in ways:
        objective = make_objective(parameters, graph, split)
        if way == "ours":
            epochs[way] = Epoch(network, lambda: network(operators, generator), objective, start, rate, decay, True)
            continue
        reference = ReferenceNCGC(network, graph.num_features, graph.num_classes).train()
        edges = edge_index(graph) if way == "edge_index" else csr_adjacency(graph)
        forward = partial(reference, to_pyg(graph).x, edges)
        epochs[way] = Epoch(reference, forward, objective, start, rate, decay, False)
    return epochs, network


def compare_losses(graph: Graph, backbone: str, heads: int) -> float:
    """Check that all ways compute the same, over three steps without dropout.

    Args:
        graph: one of the paper's data sets.
        backbone: one of :data:`WAYS`.
        heads: attention heads of GAT.

    Returns:
        The largest relative difference between a loss and ours.

    Raises:
        TrainingError: if it is above :data:`TOLERANCE`.
    """
    epochs, _ = make_epochs(graph, backbone, heads, WAYS[backbone], dropout=0.0)
    losses = {way: [epoch() for _ in range(3)] for way, epoch in epochs.items()}
    worst = max(abs(a - b) / abs(b) for way in losses for a, b in zip(losses[way], losses["ours"], strict=True))
    if not worst <= TOLERANCE:
        raise TrainingError(
            f"The losses on {graph.name} differ by {worst:.1e}: {losses}; the comparison would mean nothing."
        )
    return worst


def clock(work: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Time several pieces of work that take turns, so that other load on the machine falls on all of them.

    Args:
        work: functions by name.
        rounds: timed turns, after one that warms up.

    Returns:
        Median seconds by name.
    """
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, run in work.items():
            start = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}


def in_own_process(measurement: str, dataset: str, options: Options, way: str = "ours") -> float:
    """Take a measurement in a new process, where effects on the whole process cannot disturb the comparison.

    Args:
        measurement: "peak" (:func:`peak_memory`) or "kept" (:func:`kept_memory_gain`).
        dataset: name of the data set.
        options: backbone, heads and data folder.
        way: of ``WAYS[options.backbone]``.

    Returns:
        The number that the process prints.

    Raises:
        TrainingError: the process failed.
    """
    command = [sys.executable, "-m", "ncgc_bench.speed.command", dataset, "--only", measurement, "--way", way]
    command += ["--backbone", options.backbone, "--heads", str(options.heads)]
    command += ["--data", options.data] if options.data else []
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        why = (ended.stderr.strip().splitlines() or ["no message"])[-1]
        raise TrainingError(f"A measurement in a process of its own failed on {dataset}: {why}")
    return float(ended.stdout)


def peak_memory(graph: Graph, backbone: str, heads: int, way: str) -> float:
    """Measure the memory that two epochs add at their peak to that of the loaded graph (Linux).

    Args:
        graph: one of the paper's data sets.
        backbone: one of :data:`WAYS`.
        heads: attention heads of GAT.
        way: of ``WAYS[backbone]``.

    Returns:
        MiB.
    """
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    before = _status("VmRSS")
    epochs, _ = make_epochs(graph, backbone, heads, (way,))
    with kept_memory() if way == "ours" else nullcontext():
        epochs[way](), epochs[way]()
    return (_status("VmHWM") - before) / 1024


def kept_memory_gain(graph: Graph, backbone: str, heads: int) -> float:
    """Measure how much faster our epoch is when freed memory is kept, as in training, than without.

    Args:
        graph: one of the paper's data sets.
        backbone: one of :data:`WAYS`.
        heads: attention heads of GAT.

    Returns:
        Seconds without over seconds with kept memory; above 1 it is faster.
    """
    epochs, _ = make_epochs(graph, backbone, heads, ("ours",))
    plain = clock({"ours": epochs["ours"]}, 9)["ours"]
    with kept_memory():
        return plain / clock({"ours": epochs["ours"]}, 9)["ours"]


def _status(field: str) -> int:
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith(field))
    return int(line.split()[1])


def measure(dataset: str, options: Options) -> dict[str, Any]:
    """Time an epoch of every way on one data set.

    Args:
        dataset: name of the data set.
        options: what to measure.

    Returns:
        Milliseconds of each way, their ratios to ours, and memory if it was measured: a row of `tables.as_table`.
    """
    graph = load_dataset(dataset, root=options.data)
    difference = compare_losses(graph, options.backbone, options.heads)
    epochs, network = make_epochs(graph, options.backbone, options.heads, WAYS[options.backbone])
    work: dict[str, Callable[[], Any]] = dict(epochs)
    if options.backbone == "gcn":
        work["floor"] = floor(graph, network)
    seconds = clock(work, options.rounds)
    row: dict[str, Any] = {"dataset": dataset, "backbone": options.backbone, "loss_difference": difference}
    row |= {f"{way}_ms": 1000 * value for way, value in seconds.items()}
    row |= {f"over_{way}": seconds[way] / seconds["ours"] for way in WAYS[options.backbone][1:]}
    if "floor" in seconds:
        row["over_floor"] = seconds["ours"] / seconds["floor"]
    if options.memory:
        for way in ("ours", "edge_index"):
            row[f"{way}_mib"] = in_own_process("peak", dataset, options, way)
        row["memory_share"] = row["ours_mib"] / row["edge_index_mib"]
        row["kept_gain"] = in_own_process("kept", dataset, options)
    return row
