"""Graph: the one form in which data enters the package.

A symmetric CSR adjacency without self-loops or duplicates, features (CSR or dense), labels with -1 for unknown, and the
names of nodes and classes. Immutable: `with_labels` and the like return a new Graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ncgc.errors import GraphError
from ncgc.graph.adjacency import symmetric_adjacency
from ncgc.graph.features import as_dense, column_mean, normalised_rows
from ncgc.graph.validation import Features, as_edges, as_features, as_labels, as_weights, check_graph, listed


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected attributed graph, some of whose nodes carry a label.

    Build one with :meth:`from_edges`, :meth:`from_scipy`, or (from networkx, PyG, files and tables) the functions of
    :mod:`ncgc.io`. All symmetrise, drop self-loops, merge duplicate edges and validate; the constructor only stores.

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
        """A Graph from a list of edges, each given once or in both directions.

        Args:
            edges: (m, 2) node numbers.
            features: (n, D) numbers, dense or a scipy sparse matrix.
            labels: (n,) class indices, -1 where unknown; None where all are.
            weights: (m,) positive edge weights; the largest of duplicates and of the two directions is kept. None for 1.
            num_nodes: n; default: the number of feature rows.
            classes: (K,) class names; default: 0 to the largest label.
            node_ids: (n,) unique names of the nodes; default: 0..n-1.
            name: what to call the graph in messages and results.
            public_split: (train, validation, test) node indices that come with the data set.

        Returns:
            The graph, validated.

        Raises:
            GraphError: names what was found, where, and what to do.
        """
        features = as_features(features)
        n = features.shape[0] if num_nodes is None else int(num_nodes)
        pairs = as_edges(edges, n)
        values = as_weights(weights, len(pairs))
        label_array = as_labels(labels, n)
        if classes is None:
            classes = np.arange(int(label_array.max(initial=-1)) + 1)
        graph = cls(
            adjacency=symmetric_adjacency(pairs, values, n),
            features=features,
            labels=label_array,
            classes=np.asarray(classes),
            node_ids=None if node_ids is None else np.asarray(node_ids),
            name=name,
            public_split=public_split,
        )
        return graph.validate()

    @classmethod
    def from_scipy(cls, adjacency: Any, features: Any, labels: Any = None, **options: Any) -> Graph:
        """A Graph from a scipy sparse adjacency.

        Args:
            adjacency: n×n, entries are positive weights; one direction of an edge is enough.
            features: (n, D) numbers, dense or sparse.
            labels: (n,) class indices, -1 where unknown; None where all are.
            options: classes, node_ids, name or public_split, as in :meth:`from_edges`.

        Returns:
            The graph, validated.
        """
        if not sparse.issparse(adjacency) or adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
            found = getattr(adjacency, "shape", type(adjacency).__name__)
            raise GraphError(f"The adjacency must be a square scipy sparse matrix. Got {found} instead.")
        coo = adjacency.tocoo()
        pairs = np.stack([coo.row, coo.col], axis=1)
        return cls.from_edges(pairs, features, labels, weights=coo.data, num_nodes=adjacency.shape[0], **options)

    # ---------------------------------------------------------------- properties

    @property
    def num_nodes(self) -> int:
        return int(self.adjacency.shape[0])

    @property
    def num_edges(self) -> int:
        """Undirected edges: each pair of joined nodes counts once."""
        return int(self.adjacency.nnz) // 2

    @property
    def num_features(self) -> int:
        """Number D of feature columns."""
        return int(self.features.shape[1])

    @property
    def num_classes(self) -> int:
        """Number K of classes."""
        return len(self.classes)

    @property
    def degrees(self) -> np.ndarray:
        """(n,) number of neighbours."""
        return np.diff(self.adjacency.indptr)

    @property
    def feature_density(self) -> float:
        """Fraction of the n×D feature entries that are not zero."""
        size = self.features.shape[0] * self.features.shape[1]
        stored = self.features.nnz if sparse.issparse(self.features) else int(np.count_nonzero(self.features))
        return stored / size if size else 0.0

    @property
    def weighted(self) -> bool:
        """Whether any edge weight differs from 1."""
        return bool(self.adjacency.nnz) and bool((self.adjacency.data != 1).any())

    def __repr__(self) -> str:
        return (
            f"Graph(nodes={self.num_nodes}, edges={self.num_edges}, features={self.num_features}, "
            f"classes={self.num_classes}, labelled={int((self.labels >= 0).sum())})"
        )

    # ---------------------------------------------------------------- changing

    def with_labels(self, labels: Mapping[Hashable, Any] | Sequence[Any] | np.ndarray) -> Graph:
        """The same graph with other labels.

        Args:
            labels: (n,) class indices with -1 for unknown, or a mapping from node id to class name; nodes that are not
                in the mapping are unlabelled.

        Returns:
            The new graph.

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
        """The same graph with other features.

        Args:
            features: (n, D') numbers, dense or sparse.

        Returns:
            The new graph, validated.
        """
        return replace(self, features=as_features(features)).validate()

    def feature_mean(self) -> np.ndarray:
        """(D,) float32 mean of every feature column, summed in float64."""
        return column_mean(self.features)

    def centred(self, mean: np.ndarray | None = None) -> Graph:
        """The same graph with a mean subtracted from every feature row; X becomes dense.

        Args:
            mean: (D,); default: the column mean of this graph.

        Returns:
            The new graph.
        """
        return replace(
            self, features=as_features(as_dense(self.features) - (self.feature_mean() if mean is None else mean))
        )

    def row_normalised(self, norm: str = "sum") -> Graph:
        """The same graph with every feature row divided by its norm; zero rows stay zero.

        Args:
            norm: "sum" (of absolute values) or "length" (Euclidean).

        Returns:
            The new graph.
        """
        return replace(self, features=as_features(normalised_rows(self.features, norm)))

    # ---------------------------------------------------------------- converting

    def to_scipy(self) -> tuple[sparse.csr_array, Features, np.ndarray]:
        """Copies of the parts of this graph.

        Returns:
            The adjacency (n×n CSR), the features (n×D, CSR or dense) and the labels (n,).
        """
        return self.adjacency.copy(), self.features.copy(), self.labels.copy()

    # ---------------------------------------------------------------- checking

    def validate(self) -> Graph:
        """Check shapes, ranges, names and finiteness.

        Returns:
            The graph itself.

        Raises:
            GraphError: names what was found, where, and what to do.
        """
        check_graph(self)
        return self
