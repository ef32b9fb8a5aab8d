"""GraphSummary: what a process knows of a graph that the first one has read: labels and sizes, no edges and no features.

So one process reads the graph and the others never hold more of it than their share (:mod:`ncgc.training.engines.distributed.scatter`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy import sparse

from ncgc.errors import GraphError, NCGCError
from ncgc.graph import Graph
from ncgc.training.engines.distributed.group import Group


@dataclass(frozen=True, eq=False, repr=False)
class GraphSummary(Graph):
    """A graph whose rows are elsewhere; it answers what parameters and splits ask of one.

    Attributes:
        edges, columns, density: its edges, its features, and the share of them that are not zero.
        neighbours: (n,) the number of each node's.

    >>> graph = Graph.from_edges([[0, 1]], [[3.0, 0.0], [1.0, 4.0]], [0, 1])
    >>> summary = GraphSummary.of(graph)
    >>> summary.num_nodes, summary.num_edges, summary.feature_density, summary.adjacency.nnz
    (2, 1, 0.75, 0)
    """

    edges: int = 0
    columns: int = 0
    density: float = 0.0
    neighbours: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    @classmethod
    def of(cls, graph: Graph) -> GraphSummary:
        return cls(
            **_nowhere(graph.num_nodes, graph.num_features),
            labels=graph.labels,
            classes=graph.classes,
            name=graph.name,
            public_split=graph.public_split,
            edges=graph.num_edges,
            columns=graph.num_features,
            density=graph.feature_density,
            neighbours=graph.degrees.astype(np.int32),
        )

    @property
    def num_edges(self) -> int:
        return self.edges

    @property
    def feature_density(self) -> float:
        return self.density

    @property
    def degrees(self) -> np.ndarray:
        return self.neighbours

    def validate(self) -> GraphSummary:
        """Whoever has the graph has checked it."""
        return self


def read_by_first(read: Callable[[], Graph], group: Group) -> Graph:
    """The graph in the first process, which reads it, and its :class:`GraphSummary` in the others.

    What is wrong with it is the first one's error; the others end with it, and not for want of a message.
    """
    graph: Graph | None = None
    error: NCGCError | None = None
    if group.first:
        try:
            graph = read()
        except NCGCError as found:
            error = found
    failed = bool(group.from_first(torch.tensor(int(error is not None))))
    if error is not None:
        raise error
    if failed:
        raise GraphError("The first process could not read the graph.")
    return _shared(graph, group)


def _shared(graph: Graph | None, group: Group) -> Graph:
    summary = None if graph is None else GraphSummary.of(graph)
    facts = _facts(group, summary)
    arrays = [np.zeros(0, dtype=np.int64)] * len(facts["arrays"])
    if summary is not None:
        arrays = [summary.labels, summary.neighbours, *(summary.public_split or ())]
    found = [
        group.from_first(torch.from_numpy(array.astype(np.int64)) if group.first else torch.zeros(n, dtype=torch.int64))
        for array, n in zip(arrays, facts["arrays"], strict=True)
    ]
    if graph is not None:
        return graph
    labels, neighbours, *split = (values.numpy() for values in found)
    return GraphSummary(
        **_nowhere(len(labels), facts["columns"]),
        labels=labels,
        classes=np.asarray(facts["classes"]),
        name=facts["name"],
        public_split=(split[0], split[1], split[2]) if split else None,
        edges=facts["edges"],
        columns=facts["columns"],
        density=facts["density"],
        neighbours=neighbours.astype(np.int32),
    )


def _facts(group: Group, summary: GraphSummary | None) -> dict[str, Any]:
    """Names and numbers, as JSON that the first process sends."""
    text = b""
    if summary is not None:
        sizes = [summary.num_nodes] * 2 + [len(nodes) for nodes in summary.public_split or ()]
        facts = {"name": summary.name, "classes": summary.classes.tolist(), "arrays": sizes}
        facts |= {"edges": summary.edges, "columns": summary.columns, "density": summary.density}
        text = json.dumps(facts, default=str).encode()
    length = int(group.from_first(torch.tensor(len(text))))
    sent = torch.tensor(list(text) or [0] * length, dtype=torch.uint8)
    read: dict[str, Any] = json.loads(bytes(group.from_first(sent).tolist()))
    return read


def _nowhere(nodes: int, columns: int) -> dict[str, Any]:
    """Edges and features of the right shape, of which there are none."""
    return {
        "adjacency": sparse.csr_array((nodes, nodes), dtype=np.float32),
        "features": sparse.csr_array((nodes, columns), dtype=np.float32),
    }
