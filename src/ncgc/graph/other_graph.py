"""What a graph must be to be fitted on, or to be told of by a model that was fitted on another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ncgc.errors import GraphError
from ncgc.graph import Graph
from ncgc.graph.validation import listed


def check_is_graph(graph: Any) -> None:
    if not isinstance(graph, Graph):
        raise GraphError(
            f"The graph must be an ncgc.Graph. Got {type(graph).__name__} instead; "
            "build one with Graph.from_edges, Graph.from_scipy or Graph.from_data."
        )


def check_same_features(graph: Graph, fitted: int) -> None:
    """``fitted``: how many features the model knows."""
    if graph.num_features != fitted:
        raise GraphError(
            f"The graph has {graph.num_features} features but the model was fitted on {fitted}; "
            "give the same columns in the same order."
        )


def labels_among(graph: Graph, classes: np.ndarray) -> np.ndarray:
    """(n,) the labels of a graph as indices into a model's ``classes``: it may list the same ones in another order.

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
