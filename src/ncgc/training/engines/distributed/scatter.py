"""One process reads a graph: the others get a GraphSummary of it, labels and sizes, and the Rows that they own.

So the first process alone ever holds all edges and features.
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
from ncgc.graph.validation import Features
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.partition import Part, make_part, propagation_rows
from ncgc.training.engines.partition.part_operators import PartSource


@dataclass(frozen=True, eq=False, repr=False)
class GraphSummary(Graph):
    """A graph whose edges and features are in the first process; it knows what parameters and splits depend on.

    Attributes:
        edges: how many the graph has.
        columns: features of a node.
        density: the fraction of features that are not zero.
        neighbours: (n,) the degree of each node.

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
        """The summary of a graph.

        Args:
            graph: the whole graph.

        Returns:
            Its summary, without edges and features.
        """
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
        """Nothing to check: the first process has checked the graph itself."""
        return self


def read_by_first(read: Callable[[], Graph], group: Group) -> Graph:
    """Read a graph in the first process and send its summary to the others.

    Args:
        read: reads the graph; called in the first process only.
        group: the processes.

    Returns:
        The graph in the first process, its :class:`GraphSummary` in the others.

    Raises:
        NCGCError: that of ``read`` in the first process; a GraphError at the same time in the others.
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
    return _broadcast(graph, group)


def _broadcast(graph: Graph | None, group: Group) -> Graph:
    summary = None if graph is None else GraphSummary.of(graph)
    header = _header(group, summary)
    arrays = [np.zeros(0, dtype=np.int64)] * len(header["arrays"])
    if summary is not None:
        arrays = [summary.labels, summary.neighbours, *(summary.public_split or ())]
    found = [
        group.from_first(torch.from_numpy(array.astype(np.int64)) if group.first else torch.zeros(n, dtype=torch.int64))
        for array, n in zip(arrays, header["arrays"], strict=True)
    ]
    if graph is not None:
        return graph
    labels, neighbours, *split = (values.numpy() for values in found)
    return GraphSummary(
        **_nowhere(len(labels), header["columns"]),
        labels=labels,
        classes=np.asarray(header["classes"]),
        name=header["name"],
        public_split=(split[0], split[1], split[2]) if split else None,
        edges=header["edges"],
        columns=header["columns"],
        density=header["density"],
        neighbours=neighbours.astype(np.int32),
    )


def _header(group: Group, summary: GraphSummary | None) -> dict[str, Any]:
    """Names and numbers, as JSON that the first process sends."""
    text = b""
    if summary is not None:
        sizes = [summary.num_nodes] * 2 + [len(nodes) for nodes in summary.public_split or ()]
        header = {"name": summary.name, "classes": summary.classes.tolist(), "arrays": sizes}
        header |= {"edges": summary.edges, "columns": summary.columns, "density": summary.density}
        text = json.dumps(header, default=str).encode()
    length = int(group.from_first(torch.tensor(len(text))))
    sent = torch.tensor(list(text) or [0] * length, dtype=torch.uint8)
    read: dict[str, Any] = json.loads(bytes(group.from_first(sent).tolist()))
    return read


def _nowhere(nodes: int, columns: int) -> dict[str, Any]:
    """Empty edges and features of the right shape."""
    return {
        "adjacency": sparse.csr_array((nodes, nodes), dtype=np.float32),
        "features": sparse.csr_array((nodes, columns), dtype=np.float32),
    }


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a graph that one process owns.

    Attributes:
        part: its m nodes, and h neighbours elsewhere.
        kind: of the propagation matrix, "gcn" or "mean".
        matrix: m×(m+h) its rows, in the numbers of the part.
        features: m×D, normalised.
    """

    part: Part
    kind: str
    matrix: sparse.csr_array
    features: Features


def cut_rows(source: PartSource, owner: np.ndarray, rank: int, kind: str, dtype: type = np.float32) -> Rows:
    """Cut the rows of one process out of a whole graph.

    Args:
        source: the graph.
        owner: (n,) the process that owns each node.
        rank: of the process.
        kind: of the propagation matrix, "gcn" or "mean".
        dtype: of the matrix; float64 is computed without rounding to float32.

    Returns:
        Its rows.
    """
    adjacency = source.graph.adjacency if dtype is np.float32 else source.graph.adjacency.astype(dtype)
    part = make_part(adjacency, np.flatnonzero(owner == rank), hops=1)
    return Rows(part, kind, propagation_rows(adjacency, part, kind), source.rows(part.owned))


def scatter_rows(source: PartSource, owner: np.ndarray, group: Group, kind: str) -> Rows:
    """Give every process its rows: cut in place where every process has the graph, otherwise sent by the first.

    Args:
        source: the graph, or its summary in all but the first process.
        owner: (n,) the process that owns each node.
        group: the processes.
        kind: of the propagation matrix, "gcn" or "mean".

    Returns:
        The rows of this process.
    """
    if not int(group.highest(torch.tensor(int(isinstance(source.graph, GraphSummary))))):
        return cut_rows(source, owner, group.rank, kind)
    if group.first:
        for rank in range(1, group.size):
            _send(group, cut_rows(source, owner, rank, kind), rank)  # one at a time in memory
        return cut_rows(source, owner, 0, kind)
    return _received(group, kind)


def _send(group: Group, rows: Rows, rank: int) -> None:
    arrays = [rows.part.owned, rows.part.halo, *_arrays(rows.matrix), *_arrays(rows.features)]
    for array in arrays:
        group.give(torch.from_numpy(np.ascontiguousarray(array)), rank)


def _arrays(matrix: Features) -> list[np.ndarray]:
    """The number of columns and whether it is sparse, then the matrix: one array, or three where it is sparse."""
    columns = np.array([matrix.shape[1], int(sparse.issparse(matrix))])
    return [columns, matrix.indptr, matrix.indices, matrix.data] if sparse.issparse(matrix) else [columns, matrix]


def _received(group: Group, kind: str) -> Rows:
    owned, halo = group.taken().numpy(), group.taken().numpy()
    matrix = sparse.csr_array(_matrix(group, len(owned)))
    return Rows(Part(owned, halo, len(owned)), kind, matrix, _matrix(group, len(owned)))


def _matrix(group: Group, rows: int) -> Features:
    columns, is_sparse = group.taken().tolist()
    if not is_sparse:
        dense: np.ndarray = group.taken().numpy()
        return dense
    indptr, indices, data = (group.taken().numpy() for _ in range(3))
    return sparse.csr_array((data, indices, indptr), shape=(rows, columns))
