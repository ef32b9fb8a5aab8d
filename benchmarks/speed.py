"""One full NCGC training epoch, three ways, side by side in one process on the same weights.

    python benchmarks/speed.py                      the paper's GCN settings on the seven data sets
    python benchmarks/speed.py --backbone gat       the paper's GAT settings
    python benchmarks/speed.py --memory             peak memory too, and what keeping freed memory gains (the trainer
                                                    does, the comparison does not), each in a process of its own
    python benchmarks/speed.py --json               one JSON object a data set, and a last one with the means
    python benchmarks/speed.py --show FILE          the table of what --json printed

An epoch is: forward pass with dropout, the three losses with Sinkhorn, backward pass, Adam's step. The ways:
`ours`; `edge_index`, the same model on PyG layers with edge_index; `csr`, the same on PyG layers with a CSR adjacency
(GCN only: PyG's GATConv works edge by edge either way). `floor` is the dense and sparse products of our epoch alone, on
buffers made beforehand. Times are medians, the ways taking turns, after a warm-up. The losses of all ways are compared
after three dropout-free steps first; a difference over 1e-4 ends the program.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent))
from stock import StockNCGC, csr_adjacency, edge_index

from ncgc import NCGC, SOGN, Graph, load_dataset, make_split
from ncgc.bench import preset
from ncgc.errors import NCGCError
from ncgc.losses import Objective, initial_centroids
from ncgc.nn import GraphOperators, Output
from ncgc.ops import kept_memory
from ncgc.ops.layer import first_layer_way
from ncgc.ops.soft_orthogonal import gram

DATASETS = ("cora", "citeseer", "pubmed", "computers", "photo", "cs", "physics")
WAYS = ("ours", "edge_index", "csr")


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
    lr, decay = model.learning_rate, model.weight_decay
    epochs: dict[str, Epoch] = {}
    for way in ways:
        objective = model._objective(graph, split)
        if way == "ours":
            epochs[way] = Epoch(network, lambda: network(operators, generator), objective, start, lr, decay, True)
            continue
        stock = StockNCGC(network, graph.num_features, graph.num_classes).train()
        x = graph.to_data().x
        edges = edge_index(graph) if way == "edge_index" else csr_adjacency(graph)
        walk = lambda stock=stock, x=x, edges=edges: stock(x, edges)  # noqa: E731
        epochs[way] = Epoch(stock, walk, objective, start, lr, decay, False)
    return epochs, network


def ways_of(backbone: str) -> tuple[str, ...]:
    return WAYS if backbone == "gcn" else WAYS[:2]


def compare_losses(graph: Graph, backbone: str, heads: int) -> float:
    """Largest relative difference of the loss to ours over three dropout-free steps; ends the program beyond 1e-4."""
    epochs, _ = make_epochs(graph, backbone, heads, ways_of(backbone), dropout=0.0)
    losses = {way: [epoch() for _ in range(3)] for way, epoch in epochs.items()}
    worst = max(abs(a - b) / abs(b) for way in losses for a, b in zip(losses[way], losses["ours"], strict=True))
    if not worst <= 1e-4:
        sys.exit(f"The losses on {graph.name} differ by {worst:.1e}: {losses}")
    return worst


def floor(graph: Graph, network: SOGN, backbone: str) -> Callable[[], None]:
    """The products of one of our GCN epochs and nothing else, into buffers made beforehand."""
    n, d, k = graph.num_nodes, network.hidden, graph.num_classes
    operators = GraphOperators(graph)
    a, features = operators.gcn.csr, operators.features
    z, u, out, w, small = torch.randn(n, d), torch.randn(n, d), torch.empty(n, d), torch.randn(d, d), torch.empty(d, d)
    w_in, d_in = torch.randn(graph.num_features, d), torch.empty(graph.num_features, d)
    d_more, constant, way = torch.randn(graph.num_features, d), features.gram, first_layer_way(features, d)
    narrow, head, d_head = torch.randn(n, k), torch.randn(d, k), torch.empty(d, k)
    if features.sparse is None:
        x, x_t = features.to_dense(), features.to_dense().t()
    else:
        x, x_t = features.sparse.csr, features.sparse.transposed

    def products() -> None:
        for layer in range(len(network.convs)):
            if layer == 0 and way != "plain":
                torch.addmm(out, x, w_in, beta=0, out=out)  # Z = X·W
                torch.mm(constant, w_in, out=d_in) if constant is not None else torch.addmm(
                    d_in, x_t, z, beta=0, out=d_in
                )  # F
                torch.mm(w_in.t(), d_in, out=small)  # G
                torch.mm(z, small, out=out)  # Z·M
                torch.addmm(out, a, z, out=out)  # Â·Z
                torch.addmm(out, a, u, beta=0, out=out)  # Â·U
                if way == "twice":
                    torch.addmm(d_in, x_t, u, beta=0, out=d_in)  # XᵀU
                    torch.mm(w_in.t(), d_in, out=small)  # dM
                    torch.mm(d_in, w, out=d_more)  # (XᵀU)·Mᵀ
                else:
                    torch.mm(z.t(), u, out=small)  # dM
                    torch.addmm(out, u, w, out=out)  # U·Mᵀ
                torch.addmm(d_in, x_t, u, beta=0, out=d_in)  # Xᵀ(…)
                torch.addmm(d_in, d_more, small, out=d_in)  # F·S
                continue
            torch.mm(z, w, out=out) if layer else torch.addmm(out, x, w_in, beta=0, out=out)  # Z = H·W
            gram(z)  # G
            torch.mm(z, small, out=out)  # Z·M
            torch.addmm(out, a, z, out=out)  # Â·Z
            torch.addmm(out, a, u, beta=0, out=out)  # Â·U
            torch.mm(z.t(), u, out=small)  # ZᵀU
            torch.addmm(out, u, w, out=out)  # U·Mᵀ
            torch.addmm(out, z, w, out=out)  # Z·(dG + dGᵀ)
            torch.mm(z.t(), u, out=small) if layer else torch.addmm(d_in, x_t, u, beta=0, out=d_in)  # dW
            if layer:
                torch.mm(u, w.t(), out=out)  # dH
        for _ in range(2):  # the head and the clustering loss each go forward once and back twice
            torch.mm(z, head, out=narrow)
            torch.mm(narrow, head.t(), out=out)
            torch.mm(z.t(), narrow, out=d_head)

    return products


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


def in_own_process(measurement: str, dataset: str, arguments: argparse.Namespace, way: str = "ours") -> float:
    """A number that another process prints: what touches the whole process must not touch the comparison."""
    command = [sys.executable, __file__, dataset, "--only", measurement, "--way", way]
    command += ["--backbone", arguments.backbone, "--heads", str(arguments.heads)]
    command += ["--data", arguments.data] if arguments.data else []
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


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


def measure(dataset: str, arguments: argparse.Namespace) -> dict[str, Any]:
    graph = load_dataset(dataset, root=arguments.data)
    difference = compare_losses(graph, arguments.backbone, arguments.heads)
    epochs, network = make_epochs(graph, arguments.backbone, arguments.heads, ways_of(arguments.backbone))
    work: dict[str, Callable[[], Any]] = dict(epochs)
    if arguments.backbone == "gcn":
        work["floor"] = floor(graph, network, arguments.backbone)
    seconds = clock(work, arguments.rounds)
    row: dict[str, Any] = {"dataset": dataset, "backbone": arguments.backbone, "loss_difference": difference}
    row |= {f"{way}_ms": 1000 * value for way, value in seconds.items()}
    row |= {f"over_{way}": seconds[way] / seconds["ours"] for way in ways_of(arguments.backbone)[1:]}
    if "floor" in seconds:
        row["over_floor"] = seconds["ours"] / seconds["floor"]
    if arguments.memory:
        for way in ("ours", "edge_index"):
            row[f"{way}_mib"] = in_own_process("peak", dataset, arguments, way)
        row["memory_share"] = row["ours_mib"] / row["edge_index_mib"]
        row["kept_gain"] = in_own_process("kept", dataset, arguments)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=DATASETS, metavar="DATASET")
    parser.add_argument("--backbone", choices=("gcn", "gat"), default="gcn")
    parser.add_argument("--heads", type=int, default=1, help="attention heads of GAT")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", help="folder of the data sets (else NCGC_DATA, else the user's cache)")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print the table of an earlier --json")
    parser.add_argument("--only", choices=("peak", "kept"), help=argparse.SUPPRESS)
    parser.add_argument("--way", choices=WAYS, default="ours", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        graph = load_dataset(arguments.datasets[0], root=arguments.data)
        measured = (
            peak_memory(graph, arguments.backbone, arguments.heads, arguments.way)
            if arguments.only == "peak"
            else kept_memory_gain(graph, arguments.backbone, arguments.heads)
        )
        print(measured)
        return
    if arguments.show:
        print_table([row for line in arguments.show.read_text().splitlines() if "dataset" in (row := json.loads(line))])
        return
    rows = []
    for dataset in arguments.datasets:
        rows.append(measure(dataset, arguments))
        print(
            json.dumps(rows[-1]) if arguments.json else f"{dataset} done",
            flush=True,
            file=sys.stdout if arguments.json else sys.stderr,
        )
    if arguments.json:
        print(
            json.dumps({"geometric_mean": means(rows), "threads": torch.get_num_threads(), "torch": torch.__version__})
        )
    else:
        print_table(rows)


def means(rows: list[dict[str, Any]]) -> dict[str, float]:
    ratios = [key for key in rows[0] if key.startswith("over_") or key in ("memory_share", "kept_gain")]
    return {key: geometric_mean([row[key] for row in rows]) for key in ratios}


def print_table(rows: list[dict[str, Any]]) -> None:
    """Markdown: a row a data set, the geometric means of the ratios last."""
    columns = [column for column in COLUMNS if column[0] in rows[0]]
    print("| data set | " + " | ".join(title for _, title, _ in columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for row in rows:
        print(f"| {row['dataset']} | " + " | ".join(format(row[key], form) for key, _, form in columns) + " |")
    mean = means(rows)
    cells = (f"**{mean[key]:.2f}**" if key in mean else "" for key, _, _ in columns)
    print("| geometric mean | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    try:
        main()
    except NCGCError as error:
        sys.exit(f"Error: {error}")
