"""Graph: the one form in which data enters the house.

A symmetric CSR adjacency without self-loops or duplicates, features (CSR or dense), labels with -1 for unknown, and the
names people know their nodes and classes by. Immutable: `with_labels` and friends return a new Graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ncgc.coerce import (
    Features,
    as_edges,
    as_features,
    as_labels,
    as_weights,
    first_not_finite,
    listed,
    symmetric_adjacency,
)
from ncgc.errors import GraphError

if TYPE_CHECKING:
    from pathlib import Path

    import networkx as nx
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected attributed graph, some of whose nodes carry a label.

    Build one with :meth:`from_edges` (or `from_scipy`, `from_data`), which symmetrise, drop self-loops, merge duplicate
    edges and validate; the plain constructor only stores.

    Attributes:
        adjacency: n×n symmetric CSR, float32 weights (1 where the edges carry none), no self-loops, sorted indices.
        features: n×D float32, CSR or dense.
        labels: (n,) int64 indices into ``classes``; -1 is unknown.
        classes: (K,) the class names, in the order of the label indices.
        node_ids: (n,) the names of the nodes, or None for 0..n-1.
        name: what to call the graph in messages and results.
        public_split: (train, validation, test) node indices that come with the data set, if any do.

    >>> graph = Graph.from_edges([[0, 1], [1, 2], [2, 1], [2, 2]], features=np.eye(3), labels=[0, -1, 1])
    >>> graph
    Graph(nodes=3, edges=2, features=3, classes=2, labelled=2)
    """

    adjacency: sparse.csr_array
    features: Features
    labels: np.ndarray
    classes: np.ndarray
    node_ids: np.ndarray | None = None
    name: str = "graph"
    public_split: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    # ---------------------------------------------------------------- building

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        features: Any,
        labels: Any = None,
        *,
        weights: Any = None,
        num_nodes: int | None = None,
        classes: Sequence[Any] | np.ndarray | None = None,
        node_ids: Sequence[Any] | np.ndarray | None = None,
        name: str = "graph",
        public_split: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    ) -> Graph:
        """A Graph from an (m, 2) list of edges; each may be given once or in both directions.

        ``weights`` (m,) are positive edge weights; of duplicates (and of the two directions) the largest is kept.
        """
        features = as_features(features)
        n = features.shape[0] if num_nodes is None else int(num_nodes)
        pairs = as_edges(edges, n)
        values = as_weights(weights, len(pairs))
        return cls._assemble(pairs, values, n, features, labels, classes, node_ids, name, public_split)

    @classmethod
    def from_scipy(cls, adjacency: Any, features: Any, labels: Any = None, **names: Any) -> Graph:
        """A Graph from a square scipy sparse matrix (entries are weights; either direction is enough)."""
        if not sparse.issparse(adjacency) or adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
            found = getattr(adjacency, "shape", type(adjacency).__name__)
            raise GraphError(f"The adjacency must be a square scipy sparse matrix. Got {found} instead.")
        coo = adjacency.tocoo()
        pairs = np.stack([coo.row, coo.col], axis=1)
        return cls.from_edges(pairs, features, labels, weights=coo.data, num_nodes=adjacency.shape[0], **names)

    @classmethod
    def from_data(cls, data: Data, **names: Any) -> Graph:
        """A Graph from a PyG ``Data`` (x, edge_index, y; edge_weight and the three masks when present)."""
        if data.x is None or data.edge_index is None:
            raise GraphError("The PyG Data needs both 'x' and 'edge_index'; one of them is None.")
        weights = data.edge_weight if "edge_weight" in data else None
        split = None
        if all(key in data and data[key].dim() == 1 for key in ("train_mask", "val_mask", "test_mask")):
            train, val, test = (data[key].numpy().nonzero()[0] for key in ("train_mask", "val_mask", "test_mask"))
            split = (train, val, test)
        return cls.from_edges(
            data.edge_index.numpy().T,
            data.x.numpy(),
            None if data.y is None else data.y.numpy(),
            weights=None if weights is None else weights.numpy(),
            num_nodes=data.num_nodes,
            **{"public_split": split, **names},
        )

    @classmethod
    def from_networkx(cls, graph: nx.Graph, features: Any = None, label: str | None = "label", **options: Any) -> Graph:
        """A Graph from a networkx graph, whose node attributes are labels and features.

        ``features``: an (n, D) array in the order of the nodes, names of attributes, or "none" for features of the graph's
        structure; default: the vectors under "x" where there are some, otherwise every attribute but the label.
        ``options`` are those of :func:`ncgc.io.networkx_graphs.from_networkx`, which also tells what it did.
        """
        from ncgc.io.networkx_graphs import from_networkx

        return from_networkx(graph, features, label, **options).graph

    @classmethod
    def from_graphml(cls, path: str | Path, label: str | None = "label", **options: Any) -> Graph:
        """A Graph from a GraphML file; labels are optional, ``options`` as in :meth:`from_networkx`."""
        from ncgc.io.graphml import read_graphml

        return read_graphml(path, label=label, **{"strict": False, **options}).graph

    @classmethod
    def _assemble(
        cls,
        pairs: np.ndarray,
        values: np.ndarray,
        n: int,
        features: Features,
        labels: Any,
        classes: Any,
        node_ids: Any,
        name: str,
        public_split: tuple[np.ndarray, np.ndarray, np.ndarray] | None,
    ) -> Graph:
        adjacency = symmetric_adjacency(pairs, values, n)
        label_array = as_labels(labels, n)
        if classes is None:
            classes = np.arange(int(label_array.max(initial=-1)) + 1)
        graph = cls(
            adjacency=adjacency,
            features=features,
            labels=label_array,
            classes=np.asarray(classes),
            node_ids=None if node_ids is None else np.asarray(node_ids),
            name=name,
            public_split=public_split,
        )
        return graph.validate()

    # ---------------------------------------------------------------- facts

    @property
    def num_nodes(self) -> int:
        return int(self.adjacency.shape[0])

    @property
    def num_edges(self) -> int:
        """Undirected edges: each pair of joined nodes counts once."""
        return int(self.adjacency.nnz) // 2

    @property
    def num_features(self) -> int:
        return int(self.features.shape[1])

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    @property
    def degrees(self) -> np.ndarray:
        """(n,) number of neighbours."""
        return np.diff(self.adjacency.indptr)

    @property
    def feature_density(self) -> float:
        """Share of the n×D feature entries that are not zero."""
        size = self.features.shape[0] * self.features.shape[1]
        stored = self.features.nnz if sparse.issparse(self.features) else int(np.count_nonzero(self.features))
        return stored / size if size else 0.0

    @property
    def weighted(self) -> bool:
        return bool(self.adjacency.nnz) and bool((self.adjacency.data != 1).any())

    def __repr__(self) -> str:
        return (
            f"Graph(nodes={self.num_nodes}, edges={self.num_edges}, features={self.num_features}, "
            f"classes={self.num_classes}, labelled={int((self.labels >= 0).sum())})"
        )

    # ---------------------------------------------------------------- changing

    def with_labels(self, labels: Mapping[Hashable, Any] | Sequence[Any] | np.ndarray) -> Graph:
        """The same graph with other labels: an array of class indices, or a mapping from node id to class name.

        >>> graph = Graph.from_edges([[0, 1]], np.eye(2), classes=["ham", "spam"], node_ids=["A", "B"])
        >>> graph.with_labels({"B": "spam"}).labels
        array([-1,  1])
        """
        if not isinstance(labels, Mapping):
            return replace(self, labels=as_labels(labels, self.num_nodes)).validate()
        ids = range(self.num_nodes) if self.node_ids is None else self.node_ids.tolist()
        position = {node: i for i, node in enumerate(ids)}
        index = {name: k for k, name in enumerate(self.classes.tolist())}
        array = np.full(self.num_nodes, -1, dtype=np.int64)
        for node, name in labels.items():
            if node not in position:
                raise GraphError(
                    f"Unknown node id {node!r} among the labels; the graph's ids look like {next(iter(position), None)!r}."
                )
            if name not in index:
                raise GraphError(
                    f"Node {node!r} has the unknown class {name!r}; the graph's classes are {listed(self.classes)}."
                )
            array[position[node]] = index[name]
        return replace(self, labels=array)

    def with_features(self, features: Any) -> Graph:
        """The same graph with other features (n rows)."""
        return replace(self, features=as_features(features)).validate()

    def feature_mean(self) -> np.ndarray:
        """(D,) float32 mean of every feature column, summed in doubles."""
        dense = self.features.toarray() if sparse.issparse(self.features) else self.features
        mean: np.ndarray = dense.mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean

    def centred(self, mean: np.ndarray | None = None) -> Graph:
        """The same graph with ``mean`` (D,) taken from every row of X, its own column mean by default; X becomes dense."""
        dense = self.features.toarray() if sparse.issparse(self.features) else self.features
        return replace(self, features=as_features(dense - (self.feature_mean() if mean is None else mean)))

    def row_normalised(self, norm: str = "sum") -> Graph:
        """The same graph with every feature row divided by its sum of absolute values, or by its Euclidean length.

        Zero rows stay zero. ``norm`` is "sum" or "length".
        """
        if sparse.issparse(self.features):
            counts = np.diff(self.features.indptr)
            rows = np.repeat(np.arange(self.num_nodes), counts)
            scaled = self.features.copy()
            scaled.data = _normalised_rows(self.features.data, rows, self.num_nodes, norm)
        else:
            n, columns = self.features.shape
            rows = np.repeat(np.arange(n), columns)
            scaled = _normalised_rows(self.features.ravel(), rows, n, norm).reshape(n, columns)
        return replace(self, features=as_features(scaled))

    def to_data(self) -> Data:
        """This graph as a PyG ``Data`` with dense x, both directions in edge_index, and the public masks if known."""
        import torch
        from torch_geometric.data import Data

        coo = self.adjacency.tocoo()
        dense = self.features.toarray() if sparse.issparse(self.features) else self.features
        data = Data(
            x=torch.from_numpy(np.ascontiguousarray(dense)),
            edge_index=torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64)),
            y=torch.from_numpy(self.labels),
        )
        if self.weighted:
            data.edge_weight = torch.from_numpy(coo.data)
        if self.public_split is not None:
            for key, index in zip(("train_mask", "val_mask", "test_mask"), self.public_split, strict=True):
                mask = torch.zeros(self.num_nodes, dtype=torch.bool)
                mask[torch.from_numpy(np.asarray(index))] = True
                data[key] = mask
        return data

    def to_networkx(self, features: bool = True) -> nx.Graph:
        """This graph as a networkx one: nodes by id, "label" where known, features as a list under "x", edge weights."""
        from ncgc.io.networkx_graphs import to_networkx

        return to_networkx(self, features)

    def to_graphml(self, path: str | Path, features: bool = True) -> None:
        """Write this graph as GraphML, which Gephi, Cytoscape and :meth:`from_graphml` read; ids become text."""
        from ncgc.io.graphml import write_graphml

        write_graphml(self, path, features)

    def to_scipy(self) -> tuple[sparse.csr_array, Features, np.ndarray]:
        """Copies of the adjacency (n×n CSR), the features (n×D, CSR or dense) and the labels (n,)."""
        return self.adjacency.copy(), self.features.copy(), self.labels.copy()

    # ---------------------------------------------------------------- checking

    def validate(self) -> Graph:
        """Check shapes, ranges and finiteness; raise a GraphError that says what was found and what to do."""
        n = self.num_nodes
        if n == 0:
            raise GraphError("The graph has no nodes; give at least one.")
        if self.features.shape[0] != n:
            raise GraphError(
                f"The features have {self.features.shape[0]} rows but the graph has {n} nodes; give one row a node."
            )
        stored = self.features.data if sparse.issparse(self.features) else self.features
        if not np.isfinite(stored).all():
            row, column = first_not_finite(self.features)
            raise GraphError(
                f"The feature in row {row}, column {column} is not a finite number; "
                "replace NaN and infinite values, for example with 0 or the column's mean."
            )
        if len(self.labels) != n:
            raise GraphError(f"There are {len(self.labels)} labels for {n} nodes; give one a node, -1 where unknown.")
        if len(self.labels) and self.labels.min() < -1:
            where = int(self.labels.argmin())
            raise GraphError(
                f"Node {where} has the label {self.labels[where]}; labels are class indices from 0, or -1 for unknown."
            )
        if self.labels.max(initial=-1) >= self.num_classes:
            where = int(self.labels.argmax())
            raise GraphError(
                f"Node {where} has the label {self.labels[where]} but there are only {self.num_classes} classes; "
                "give more class names or a smaller label."
            )
        if len(set(self.classes.tolist())) != self.num_classes:
            raise GraphError(f"The class names {listed(self.classes)} repeat themselves; each class needs its own.")
        if self.node_ids is not None:
            if len(self.node_ids) != n:
                raise GraphError(f"There are {len(self.node_ids)} node ids for {n} nodes; give one a node.")
            seen = Counter(self.node_ids.tolist())
            if len(seen) != n:
                node, times = seen.most_common(1)[0]
                raise GraphError(f"The node id {node!r} appears {times} times; ids must be unique.")
        return self


def _normalised_rows(values: np.ndarray, rows: np.ndarray, n: int, norm: str) -> np.ndarray:
    """Values divided by the sum of absolute values, or the length, of their row; rows are given for each value.

    Divided by the row's largest first, so that neither sums nor squares overflow.
    """
    largest = np.zeros(n, dtype=values.dtype)
    np.maximum.at(largest, rows, abs(values))
    part = values / np.where(largest > 0, largest, 1)[rows]
    sizes = np.bincount(rows, weights=abs(part) if norm == "sum" else part**2, minlength=n)
    sizes = (np.sqrt(sizes) if norm == "length" else sizes).astype(values.dtype)
    return part * np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)[rows]
