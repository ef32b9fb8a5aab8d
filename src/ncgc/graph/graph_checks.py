"""Whether the parts of a Graph fit together; a sentence that says what was found and what to do where they do not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ncgc.errors import GraphError
from ncgc.graph.validation import all_finite, first_not_finite, listed

if TYPE_CHECKING:
    from ncgc.graph import Graph


def check_graph(graph: Graph) -> None:
    """Raise a GraphError unless shapes, ranges and names agree and every feature is finite."""
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
    if graph.node_ids is not None:
        if len(graph.node_ids) != n:
            raise GraphError(f"There are {len(graph.node_ids)} node ids for {n} nodes; give one a node.")
        if _repeats(graph.node_ids):
            node, times = Counter(graph.node_ids.tolist()).most_common(1)[0]
            raise GraphError(f"The node id {node!r} appears {times} times; ids must be unique.")


def _repeats(ids: np.ndarray) -> bool:
    """Whether an id appears twice: numbers are sorted, names put into a set."""
    if ids.dtype.kind in "iu":
        ordered = np.sort(ids)
        return bool((ordered[1:] == ordered[:-1]).any())
    return len(set(ids.tolist())) != len(ids)
