"""Checked arrays from user input, and checks that a graph is consistent and fits a model; errors say what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from ncgc.errors import GraphError

if TYPE_CHECKING:
    from ncgc.graph.graph import Graph

MOST_CLASSES = 1000  # more distinct labels than this look like a column of ids
BLOCK_ENTRIES = 1 << 22  # features read at a time

Features: TypeAlias = Any  # np.ndarray or scipy.sparse.csr_array; scipy ships no types


# -------------------------------------------------------------------- user input as arrays


def as_edges(edges: Any, n: int) -> np.ndarray:
    """Edges as an array of node numbers.

    Args:
        edges: anything numpy turns into an (m, 2) array of whole numbers from 0 to n-1.
        n: number of nodes.

    Returns:
        (m, 2) int64.

    Raises:
        GraphError: names the first edge that is wrong.
    """
    pairs = as_array(edges, "Edges", "an (m, 2) array of node numbers")
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise GraphError(
            f"Edges must be an (m, 2) array of node numbers. Got the shape {pairs.shape} instead"
            + ("; transpose a PyG edge_index first." if pairs.ndim == 2 and pairs.shape[0] == 2 else ".")
        )
    if not is_whole(pairs):
        raise GraphError(f"Edges must be whole node numbers from 0 to {n - 1}. Got the type {pairs.dtype} instead.")
    pairs = pairs.astype(np.int64)
    bad = ((pairs < 0) | (pairs >= n)).any(axis=1)
    if bad.any():
        where = int(bad.argmax())
        raise GraphError(
            f"Edge {where} joins nodes {pairs[where, 0]} and {pairs[where, 1]}, but the nodes are numbered 0 to {n - 1}; "
            "remove the edge or add the missing node."
        )
    return pairs


def as_weights(weights: Any, m: int) -> np.ndarray:
    """Edge weights as an array.

    Args:
        weights: m finite numbers above 0; None for 1 everywhere.
        m: number of edges.

    Returns:
        (m,) float32.
    """
    if weights is None:
        return np.ones(m, dtype=np.float32)
    values = as_array(weights, "Edge weights", "numbers, one an edge").reshape(-1)
    if not np.issubdtype(values.dtype, np.number):
        raise GraphError(f"Edge weights must be numbers, one an edge. Got the type {values.dtype} instead.")
    values = values.astype(np.float32)
    if len(values) != m:
        raise GraphError(f"There are {len(values)} edge weights for {m} edges; give one an edge.")
    bad = ~(np.isfinite(values) & (values > 0))
    if bad.any():
        where = int(bad.argmax())
        raise GraphError(
            f"Edge {where} has the weight {values[where]}; weights must be finite and above 0 (drop the edge to remove it)."
        )
    return values


def as_features(features: Any) -> Features:
    """A feature matrix as float32.

    Args:
        features: (n, D) numbers, dense or any scipy sparse matrix.

    Returns:
        n×D float32: a CSR array without stored zeros or duplicates, or a contiguous dense array. Values too large for
        float32 become infinite; `check_graph` then reports where they are.
    """
    if sparse.issparse(features):
        with np.errstate(over="ignore"):
            matrix = sparse.csr_array(features, dtype=np.float32)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix
    try:
        with np.errstate(over="ignore"):
            dense = np.ascontiguousarray(features, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise GraphError(f"The features must be numbers, one row a node ({error}).") from None
    if dense.ndim != 2:
        raise GraphError(f"The features must be an (n, D) array. Got the shape {dense.shape} instead.")
    return dense


def as_labels(labels: Any, n: int) -> np.ndarray:
    """Labels as class indices.

    Args:
        labels: n whole numbers, -1 where unknown; None where all are.
        n: number of nodes.

    Returns:
        (n,) int64, always a copy.
    """
    if labels is None:
        return np.full(n, -1, dtype=np.int64)
    array = as_array(labels, "Labels", "whole class indices, one a node")
    if array.ndim != 1 or len(array) != n:
        raise GraphError(
            f"There are labels of the shape {array.shape} for {n} nodes; give one a node, -1 where unknown."
        )
    if not is_whole(array):
        raise GraphError(f"Labels must be whole class indices, -1 for unknown. Got the type {array.dtype} instead.")
    return array.astype(np.int64)


def as_array(given: Any, what: str, expected: str) -> np.ndarray:
    """numpy's array of anything, or a GraphError where the rows differ in length or type.

    Args:
        given: anything.
        what: its name in the message.
        expected: what it should be, in the message.

    Returns:
        The array.
    """
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:
        raise GraphError(
            f"{what} must be {expected}; rows of different lengths or kinds were given ({error})."
        ) from None


def is_whole(array: np.ndarray) -> bool:
    """Whether every entry is a whole number, stored as an integer or as a float.

    Args:
        array: of any shape and type.

    Returns:
        False for text, NaN and infinity.
    """
    if np.issubdtype(array.dtype, np.integer):
        return True
    return bool(
        np.issubdtype(array.dtype, np.floating) and np.isfinite(array).all() and (array == np.floor(array)).all()
    )


# -------------------------------------------------------------------- a consistent graph


def check_graph(graph: Graph) -> None:
    """Check that shapes, ranges and names agree and that every feature is finite.

    Args:
        graph: the graph to check.

    Raises:
        GraphError: names what was found, where, and what to do.
    """
    n = graph.num_nodes
    if n == 0:
        raise GraphError("The graph has no nodes; give at least one.")
    if graph.features.shape[0] != n:
        raise GraphError(
            f"The features have {graph.features.shape[0]} rows but the graph has {n} nodes; give one row a node."
        )
    if not all_finite(graph.features):
        row, column = first_not_finite(graph.features)
        raise GraphError(
            f"The feature in row {row}, column {column} is not a finite number; "
            "replace NaN and infinite values, for example with 0 or the column's mean."
        )
    _check_labels(graph)
    if graph.node_ids is not None:
        if len(graph.node_ids) != n:
            raise GraphError(f"There are {len(graph.node_ids)} node ids for {n} nodes; give one a node.")
        if _repeats(graph.node_ids):
            node, times = Counter(graph.node_ids.tolist()).most_common(1)[0]
            raise GraphError(f"The node id {node!r} appears {times} times; ids must be unique.")


def _check_labels(graph: Graph) -> None:
    n = graph.num_nodes
    if len(graph.labels) != n:
        raise GraphError(f"There are {len(graph.labels)} labels for {n} nodes; give one a node, -1 where unknown.")
    if len(graph.labels) and graph.labels.min() < -1:
        where = int(graph.labels.argmin())
        raise GraphError(
            f"Node {where} has the label {graph.labels[where]}; labels are class indices from 0, or -1 for unknown."
        )
    if graph.labels.max(initial=-1) >= graph.num_classes:
        where = int(graph.labels.argmax())
        raise GraphError(
            f"Node {where} has the label {graph.labels[where]} but there are only {graph.num_classes} classes; "
            "give more class names or a smaller label."
        )
    if len(set(graph.classes.tolist())) != graph.num_classes:
        raise GraphError(f"The class names {listed(graph.classes)} repeat themselves; each class needs its own.")


def _repeats(ids: np.ndarray) -> bool:
    """Whether an id appears twice: numbers are sorted, names put into a set."""
    if ids.dtype.kind in "iu":
        ordered = np.sort(ids)
        return bool((ordered[1:] == ordered[:-1]).any())
    return len(set(ids.tolist())) != len(ids)


def row_blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows of some 4 million entries each, so that memory-mapped features are never read whole.

    Args:
        rows: number of rows of the matrix.
        columns: number of its columns.

    Returns:
        The slices, in order.
    """
    step = max(BLOCK_ENTRIES // max(columns, 1), 1)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def all_finite(features: Features) -> bool:
    """Whether every feature is a finite number; dense features, which may be memory-mapped, are read in blocks.

    Args:
        features: n×D, CSR or dense.

    Returns:
        True where there is no NaN or infinite entry.
    """
    if sparse.issparse(features):
        return bool(np.isfinite(features.data).all())
    return all(bool(np.isfinite(features[rows]).all()) for rows in row_blocks(*features.shape))


def first_not_finite(features: Features) -> tuple[int, int]:
    """Find the first NaN or infinite entry.

    Args:
        features: n×D, CSR or dense, with such an entry.

    Returns:
        Its row and column.
    """
    if sparse.issparse(features):
        at = int((~np.isfinite(features.data)).argmax())
        return int(np.searchsorted(features.indptr, at, side="right")) - 1, int(features.indices[at])
    for rows in row_blocks(*features.shape):
        found = np.argwhere(~np.isfinite(features[rows]))
        if len(found):
            return int(found[0][0]) + rows.start, int(found[0][1])
    raise GraphError("Every feature is a finite number.")


def listed(names: np.ndarray, most: int = 8) -> str:
    """Quote the first names of a list for a message.

    Args:
        names: (k,) names.
        most: number of names to quote.

    Returns:
        The names, and how many more there are.
    """
    shown = ", ".join(repr(name) for name in names[:most].tolist())
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


# -------------------------------------------------------------------- a graph for a model


def check_is_graph(graph: Any) -> None:
    """Check that a value is a Graph.

    Args:
        graph: any value.

    Raises:
        GraphError: names the functions that build a Graph.
    """
    from ncgc.graph.graph import Graph  # graph.py imports this file

    if not isinstance(graph, Graph):
        raise GraphError(
            f"The graph must be an ncgc.Graph. Got {type(graph).__name__} instead; "
            "build one with Graph.from_edges, ncgc.as_graph or ncgc.read_graph."
        )


def check_same_features(graph: Graph, fitted: int) -> None:
    """Check that a graph has as many features as the model was fitted on.

    Args:
        graph: the graph to predict on.
        fitted: number of features at fit.

    Raises:
        GraphError: otherwise.
    """
    if graph.num_features != fitted:
        raise GraphError(
            f"The graph has {graph.num_features} features but the model was fitted on {fitted}; "
            "give the same columns in the same order."
        )


def labels_among(graph: Graph, classes: np.ndarray) -> np.ndarray:
    """The labels of a graph as indices into a model's classes; the graph may list them in another order.

    Args:
        graph: a graph, some of whose nodes are labelled.
        classes: (K,) class names of the model.

    Returns:
        (n,) int64, -1 where unknown.

    Raises:
        GraphError: if a node is of a class that the model does not have.

    >>> from ncgc.graph import Graph
    >>> graph = Graph.from_edges([[0, 1]], np.eye(2), [0, -1], classes=["spam", "ham"])
    >>> labels_among(graph, np.array(["ham", "spam"]))
    array([ 1, -1])
    """
    position = {name: index for index, name in enumerate(classes.tolist())}
    used = np.unique(graph.labels[graph.labels >= 0])
    labels = np.full(graph.num_nodes, -1, dtype=np.int64)
    for index, name in zip(used.tolist(), graph.classes[used].tolist(), strict=True):
        if name not in position:
            raise GraphError(
                f"The graph has nodes of the class {name!r}, which the model was not fitted with; its classes are "
                f"{listed(classes)}."
            )
        labels[graph.labels == index] = position[name]
    return labels
