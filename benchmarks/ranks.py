"""Memory and communication of each rank, measured beside the formulas of docs/scaling.md.

    torchrun --standalone --nproc-per-node 2 benchmarks/ranks.py --nodes 100000

prints one JSON line: the account of the training, the resident memory before the graph was made, and the formulas. The
first process makes the graph (a block model); the others get their rows of it.
"""

from __future__ import annotations

import argparse
import json
import resource

from ncgc import NCGC, Split
from ncgc.datasets.synthetic import BlockModel, sample_graph
from ncgc.training.engines.distributed.communication import CommunicationReport
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.distributed.scatter import read_by_first


def main() -> None:
    """Train in the processes of torchrun and print the account."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--degree", type=float, default=10.0)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=6)
    given = parser.parse_args()
    group = Group.join()
    small = BlockModel(300, 5, num_features=given.features, features_per_node=given.features)
    warm = read_by_first(
        lambda: sample_graph(small), group
    )  # libraries are loaded, and their memory is not the graph's
    model = NCGC(hidden=given.hidden, epochs=given.epochs, warmup=1, ramp=1)
    assert warm.public_split is not None
    model.fit(warm, Split(*warm.public_split), group=group)
    before = group.counts(_peak())
    large = BlockModel(
        given.nodes, 10, mean_degree=given.degree, num_features=given.features, features_per_node=given.features
    )
    graph = read_by_first(lambda: sample_graph(large), group)
    assert graph.public_split is not None
    model.fit(graph, Split(*graph.public_split), group=group)
    if group.first:
        found = model.communication_.to_dict() | {
            "before_bytes": before,
            "formula": _formulas(given, graph.num_edges, model.communication_),
        }
        print(json.dumps({"graph": graph.num_nodes, "edges": graph.num_edges} | found))
    group.leave()


def _formulas(given: argparse.Namespace, edges: int, account: CommunicationReport) -> dict[str, int]:
    """Bytes of the rank with the most nodes, by docs/scaling.md: two GCN layers, dense features."""
    d, layers, classes, rounds, n = given.hidden, 2, 10, NCGC().sinkhorn_iterations, max(account.nodes)
    share = n / given.nodes
    weights = given.features * d + d * d + 4 * d + d * classes + classes * d  # and norms, prototypes, centroids
    memory = (
        12 * 2 * edges * share + 4 * given.features * n + 4 * n * d * (2 * layers + 7) + 12 * n * classes
        + 4 * max(account.halo) * d * 8
    )  # fmt: skip
    return {
        "memory": round(memory),
        "to_everybody": 4 * (3 * layers * d * d + (rounds + 4) * classes + weights),
        "to_neighbours": 4 * max(account.halo) * d * 3 * layers,
    }


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
