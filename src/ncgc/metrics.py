"""How good a labelling is."""

from __future__ import annotations

import numpy as np

from ncgc.errors import GraphError


def accuracy(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Share of entries that agree; NaN when there are none.

    >>> accuracy(np.array([1, 0, 1]), np.array([1, 1, 1]))
    0.6666666666666666
    """
    return float(np.mean(predicted == truth)) if len(truth) else float("nan")


def labelled_accuracy(predicted: np.ndarray, truth: np.ndarray, nodes: np.ndarray) -> float:
    """Accuracy of (n,) class indices on some nodes (numbers or a mask), all of which must have a label in ``truth``.

    >>> labelled_accuracy(np.array([1, 0, 1]), np.array([1, 1, -1]), np.array([0, 1]))
    0.5
    """
    nodes = np.asarray(nodes)
    if nodes.dtype == bool and nodes.shape == truth.shape:
        nodes = np.flatnonzero(nodes)
    if nodes.ndim != 1 or (len(nodes) and not np.issubdtype(nodes.dtype, np.integer)):
        found = f"{nodes.dtype} of the shape {nodes.shape}"
    elif not len(nodes):
        found = "no node"
    elif len(outside := nodes[(nodes < 0) | (nodes >= len(truth))]):
        found = f"node {outside[0]}, but the nodes are numbered 0 to {len(truth) - 1}"
    elif len(unknown := nodes[truth[nodes] < 0]):
        found = f"node {unknown[0]} without a label"
    else:
        return accuracy(predicted[nodes], truth[nodes])
    raise GraphError(
        f"score needs labelled nodes to compare with but got {found}; pass nodes=, or a split with test nodes."
    )
