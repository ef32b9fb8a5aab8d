"""One full NCGC training epoch, three ways, side by side in one process on the same weights.

An epoch is: forward pass with dropout, the three losses with Sinkhorn, backward pass, Adam's step. The ways:
`ours`; `edge_index`, the same model on PyG layers with edge_index; `csr`, the same on PyG layers with a CSR adjacency
(GCN only: PyG's GATConv works edge by edge either way). `floor` is the dense and sparse products of our epoch alone, on
buffers made beforehand. Times are medians, the ways taking turns, after a warm-up. The losses of all ways are compared
after three dropout-free steps first; a difference over 1e-4 is an error.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

from ncgc.datasets import load_dataset, make_split
from ncgc.errors import NCGCError, ParameterError, TrainingError
from ncgc.graph import Graph
from ncgc.io.formats.pyg import to_pyg
from ncgc.losses import Objective, initial_centroids
from ncgc.models.ncgc import NCGC
from ncgc.nn import SOGN, GraphOperators, Output
from ncgc.ops import kept_memory
from ncgc.params.presets import preset
from ncgc_bench.plans import DATASETS
from ncgc_bench.render import as_markdown
from ncgc_bench.speed.floor import floor
from ncgc_bench.speed.pyg_reference import StockNCGC, csr_adjacency, edge_index

WAYS = ("ours", "edge_index", "csr")
BACKBONES = ("gcn", "gat")


@dataclass(frozen=True)
class Options:
    """What to measure: at the paper's settings of a backbone, over so many rounds, with peak memory or without."""

    backbone: str = "gcn"
    heads: int = 1  # of GAT
    rounds: int = 7
    memory: bool = False
    data: str | None = None

    def __post_init__(self) -> None:
        if self.backbone not in BACKBONES:
            raise ParameterError(f"Speed is measured on {' and '.join(BACKBONES)}. Got {self.backbone!r} instead.")
        for name in ("heads", "rounds"):
            if getattr(self, name) < 1:
                raise ParameterError(f"--{name} must be a whole number from 1. Got {getattr(self, name)} instead.")


class Epoch:
    """One way to do an epoch: a walk through a network, the objective, and a step of Adam."""

    def __init__(self, network: nn.Module, walk: Callable[[], Output], objective: Objective, start: Tensor, lr: float, decay: float, fused: bool):  # fmt: skip
        self.network, self.walk, self.objective = network, walk, objective
        self.centroids = nn.Parameter(start.clone())
        groups: list[dict[str, Any]] = [
            {"params": list(network.parameters()), "weight_decay": decay},
            {"params": [self.centroids], "weight_decay": 0.0},
        ]
        # ours asks for the fused step; the others take Adam as it comes
        self.optimizer = torch.optim.Adam(groups, lr=lr, fused=True) if fused else torch.optim.Adam(groups, lr=lr)

    def __call__(self) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        output = self.walk()
        parts = self.objective(output.embeddings, output.logits, self.centroids, 1)
        total = self.objective.total(parts, 1)
        total.backward()
        self.optimizer.step()
        return total.item()


def make_epochs(graph: Graph, backbone: str, heads: int, ways: tuple[str, ...], dropout: float | None = None) -> tuple[dict[str, Epoch], SOGN]:  # fmt: skip
    """The ways asked for, on the same weights, at the paper's settings."""
    settings = preset("paper", backbone, graph.name) | ({} if dropout is None else {"dropout": dropout})
    model = NCGC(**settings, heads=heads)
    split = make_split(graph, "paper")
    network = model._network(graph, torch.Generator().manual_seed(0)).train()
    operators = GraphOperators(graph)
    with torch.no_grad():
        start = initial_centroids(network.eval()(operators).embeddings, graph.num_classes, "random", 0)
    network.train()
    generator = torch.Generator().manual_seed(1)
    lr, decay = model.learning_rate, model._decay(graph)
    epochs: dict[str, Epoch] = {}
    for way in ways:
        objective = model._objective(graph, split)
        if way == "ours":
            epochs[way] = Epoch(network, lambda: network(operators, generator), objective, start, lr, decay, True)
            continue
        stock = StockNCGC(network, graph.num_features, graph.num_classes).train()
        x = to_pyg(graph).x
        edges = edge_index(graph) if way == "edge_index" else csr_adjacency(graph)
        walk = lambda stock=stock, x=x, edges=edges: stock(x, edges)  # noqa: E731
        epochs[way] = Epoch(stock, walk, objective, start, lr, decay, False)
    return epochs, network


def ways_of(backbone: str) -> tuple[str, ...]:
    return WAYS if backbone == "gcn" else WAYS[:2]


def compare_losses(graph: Graph, backbone: str, heads: int) -> float:
    """Largest relative difference of the loss to ours over three dropout-free steps; an error beyond 1e-4."""
    epochs, _ = make_epochs(graph, backbone, heads, ways_of(backbone), dropout=0.0)
    losses = {way: [epoch() for _ in range(3)] for way, epoch in epochs.items()}
    worst = max(abs(a - b) / abs(b) for way in losses for a, b in zip(losses[way], losses["ours"], strict=True))
    if not worst <= 1e-4:
        raise TrainingError(
            f"The losses on {graph.name} differ by {worst:.1e}: {losses}; the comparison would mean nothing."
        )
    return worst


def clock(work: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median seconds of each, taking turns, after one turn that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, run in work.items():
            start = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}


def in_own_process(measurement: str, dataset: str, options: Options, way: str = "ours") -> float:
    """A number that another process prints: what touches the whole process must not touch the comparison."""
    command = [sys.executable, "-m", "ncgc_bench.speed.epochs", dataset, "--only", measurement, "--way", way]
    command += ["--backbone", options.backbone, "--heads", str(options.heads)]
    command += ["--data", options.data] if options.data else []
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        why = (ended.stderr.strip().splitlines() or ["no message"])[-1]
        raise TrainingError(f"A measurement in a process of its own failed on {dataset}: {why}")
    return float(ended.stdout)


def peak_memory(graph: Graph, backbone: str, heads: int, way: str) -> float:
    """MiB that two epochs add at their peak to what the loaded graph takes."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    before = _status("VmRSS")
    epochs, _ = make_epochs(graph, backbone, heads, (way,))
    with kept_memory() if way == "ours" else nullcontext():
        epochs[way](), epochs[way]()
    return (_status("VmHWM") - before) / 1024


def kept_memory_gain(graph: Graph, backbone: str, heads: int) -> float:
    """How much faster our epoch is when freed memory is kept, as the trainer does, than without."""
    epochs, _ = make_epochs(graph, backbone, heads, ("ours",))
    plain = clock({"ours": epochs["ours"]}, 9)["ours"]
    with kept_memory():
        return plain / clock({"ours": epochs["ours"]}, 9)["ours"]


def _status(field: str) -> int:
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith(field))
    return int(line.split()[1])


def measure(dataset: str, options: Options) -> dict[str, Any]:
    """Times and ratios on one data set."""
    graph = load_dataset(dataset, root=options.data)
    difference = compare_losses(graph, options.backbone, options.heads)
    epochs, network = make_epochs(graph, options.backbone, options.heads, ways_of(options.backbone))
    work: dict[str, Callable[[], Any]] = dict(epochs)
    if options.backbone == "gcn":
        work["floor"] = floor(graph, network)
    seconds = clock(work, options.rounds)
    row: dict[str, Any] = {"dataset": dataset, "backbone": options.backbone, "loss_difference": difference}
    row |= {f"{way}_ms": 1000 * value for way, value in seconds.items()}
    row |= {f"over_{way}": seconds[way] / seconds["ours"] for way in ways_of(options.backbone)[1:]}
    if "floor" in seconds:
        row["over_floor"] = seconds["ours"] / seconds["floor"]
    if options.memory:
        for way in ("ours", "edge_index"):
            row[f"{way}_mib"] = in_own_process("peak", dataset, options, way)
        row["memory_share"] = row["ours_mib"] / row["edge_index_mib"]
        row["kept_gain"] = in_own_process("kept", dataset, options)
    return row


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


COLUMNS = (
    ("ours_ms", "ours ms", ".1f"),
    ("edge_index_ms", "edge_index ms", ".1f"),
    ("csr_ms", "csr ms", ".1f"),
    ("floor_ms", "floor ms", ".1f"),
    ("over_edge_index", "× edge_index", ".2f"),
    ("over_csr", "× csr", ".2f"),
    ("over_floor", "ours / floor", ".2f"),
    ("ours_mib", "ours MiB", ".0f"),
    ("edge_index_mib", "edge_index MiB", ".0f"),
    ("memory_share", "memory share", ".2f"),
    ("kept_gain", "kept memory", ".2f"),
)


def means(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Geometric means of the ratios."""
    ratios = [key for key in rows[0] if key.startswith("over_") or key in ("memory_share", "kept_gain")]
    return {key: geometric_mean([row[key] for row in rows]) for key in ratios}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown: a row a data set, the geometric means of the ratios last; or of methods, a row a method."""
    if "method" in rows[0]:
        from ncgc_bench.speed.methods import speed_table

        return as_markdown(speed_table(list(rows)))
    columns = [column for column in COLUMNS if column[0] in rows[0]]
    lines = ["| data set | " + " | ".join(title for _, title, _ in columns) + " |", "|---|" + "---:|" * len(columns)]
    for row in rows:
        lines.append(f"| {row['dataset']} | " + " | ".join(format(row[key], form) for key, _, form in columns) + " |")
    mean = means(rows)
    cells = (f"**{mean[key]:.2f}**" if key in mean else "" for key, _, _ in columns)
    return "\n".join([*lines, "| geometric mean | " + " | ".join(cells) + " |"])


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows that an earlier --json printed."""
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        rows = [row for row in found if "ours_ms" in row]
    except OSError as error:
        raise ParameterError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, TypeError):
        raise ParameterError(f"{path} is not what --json printed; give a file with one JSON object a line.") from None
    if not rows:
        raise ParameterError(f"{path} has no timings; give a file that --json was written to.")
    return rows


def compare(datasets: Sequence[str], options: Options, as_json: bool = False) -> None:
    """Measure one data set after the other and print the table, or a JSON line each."""
    rows = []
    for dataset in datasets:
        rows.append(measure(dataset, options))
        print(
            json.dumps(rows[-1]) if as_json else f"{dataset} done",
            flush=True,
            file=sys.stdout if as_json else sys.stderr,
        )
    if as_json:
        made = {"threads": torch.get_num_threads(), "torch": torch.__version__}
        print(json.dumps({"geometric_mean": means(rows), **made}))
    else:
        print(table(rows))


def compare_methods(datasets: Sequence[str], options: Options, as_json: bool = False) -> None:
    """An epoch of every method beside its form on stock PyG: a JSON line each, or the table."""
    from ncgc_bench.speed.methods import NETWORKS, measure_method

    rows = []
    for dataset in datasets:
        graph = load_dataset(dataset, root=options.data)
        for name in NETWORKS:
            rows.append(measure_method(name, graph, options.rounds))
            if as_json:
                print(json.dumps(rows[-1]), flush=True)
        print(f"{dataset} done", file=sys.stderr, flush=True)
    if not as_json:
        print(table(rows))


def main(words: Sequence[str], about: str | None = __doc__) -> int:
    """`python -m ncgc_bench.speed.epochs`, also the way to one measurement in a process of its own."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=DATASETS, metavar="DATASET")
    parser.add_argument("--backbone", choices=BACKBONES, default="gcn")
    parser.add_argument("--heads", type=int, default=1, help="attention heads of GAT")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", help="folder of the data sets (else NCGC_DATA, else the user's cache)")
    parser.add_argument("--methods", action="store_true", help="an epoch of every other method instead")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print the table of an earlier --json")
    parser.add_argument("--only", choices=("peak", "kept"), help=argparse.SUPPRESS)
    parser.add_argument("--way", choices=WAYS, default="ours", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    try:
        options = Options(given.backbone, given.heads, given.rounds, given.memory, given.data)
        if given.only:
            graph = load_dataset(given.datasets[0], root=given.data)
            peak = given.only == "peak"
            print(
                peak_memory(graph, given.backbone, given.heads, given.way)
                if peak
                else kept_memory_gain(graph, given.backbone, given.heads)
            )
        elif given.show:
            print(table(read_rows(given.show)))
        elif given.methods:
            compare_methods(given.datasets, options, given.json)
        else:
            compare(given.datasets, options, given.json)
    except NCGCError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
