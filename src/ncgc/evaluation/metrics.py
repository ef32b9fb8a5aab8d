"""How good predicted labels and probabilities are."""

from __future__ import annotations

import numpy as np

from ncgc.errors import GraphError


def accuracy(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Fraction of entries that agree; NaN when there are none.

    Args:
        predicted: (m,) class indices.
        truth: (m,) class indices.

    Returns:
        From 0 to 1, or NaN.

    >>> accuracy(np.array([1, 0, 1]), np.array([1, 1, 1]))
    0.6666666666666666
    """
    return float(np.mean(predicted == truth)) if len(truth) else float("nan")


def labelled_accuracy(predicted: np.ndarray, truth: np.ndarray, nodes: np.ndarray) -> float:
    """Accuracy on some nodes, all of which must have a label.

    Args:
        predicted: (n,) class indices.
        truth: (n,) class indices, -1 for unknown.
        nodes: (m,) node numbers, or (n,) boolean mask.

    Returns:
        From 0 to 1.

    Raises:
        GraphError: if there are no nodes, or one is out of range or has no label.

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


def macro_f1(predicted: np.ndarray, truth: np.ndarray, num_classes: int) -> float:
    """Mean over the classes of 2·TP / (2·TP + FP + FN); a class that is neither predicted nor true is left out.

    Args:
        predicted: (m,) class indices.
        truth: (m,) class indices.
        num_classes: K.

    Returns:
        From 0 to 1; NaN without nodes.

    >>> macro_f1(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    0.6666666666666666
    """
    hits = np.bincount(truth[predicted == truth], minlength=num_classes)
    both = np.bincount(predicted, minlength=num_classes) + np.bincount(truth, minlength=num_classes)
    return float(np.mean(2 * hits[both > 0] / both[both > 0])) if len(truth) else float("nan")


def expected_calibration_error(probabilities: np.ndarray, truth: np.ndarray, bins: int = 15) -> float:
    """Σ_b |B_b|/n · |accuracy(B_b) − confidence(B_b)| over equal-width bins of the largest probability (Guo et al., 2017).

    Args:
        probabilities: (m, K).
        truth: (m,) class indices.
        bins: number of bins.

    Returns:
        From 0 to 1; NaN without nodes.

    >>> expected_calibration_error(np.array([[0.8, 0.2], [0.8, 0.2]]), np.array([0, 1]))
    0.30000000000000004
    """
    if not len(truth):
        return float("nan")
    return calibration_error(probabilities.max(axis=1), probabilities.argmax(axis=1) == truth, bins)


def calibration_error(confidence: np.ndarray, right: np.ndarray, bins: int = 15) -> float:
    """:func:`expected_calibration_error` from confidences.

    Args:
        confidence: (m,) largest probability of each node.
        right: (m,) whether the predicted label was correct.
        bins: number of bins.

    Returns:
        From 0 to 1; NaN without nodes.

    >>> calibration_error(np.array([0.8, 0.8]), np.array([True, False]))
    0.30000000000000004
    """
    if not len(right):
        return float("nan")
    place = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    gaps = np.bincount(place, weights=right - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(right))
