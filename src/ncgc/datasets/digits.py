"""`digits`, the data set that needs no files: 1,797 handwritten digits of 8×8 pixels as a nearest-neighbour graph.

The images come inside scikit-learn (Alpaydin & Kaynak, UCI 1998), so a first run needs neither files nor network.
"""

from __future__ import annotations

import numpy as np

from ncgc.errors import DatasetError
from ncgc.graph import Graph

BLOCK = 256  # rows of distances held at a time: memory is BLOCK·n, never n·n


def digits_graph(neighbours: int = 10) -> Graph:
    """The digits as a k-nearest-neighbour graph: i and j are joined when either is among the k nearest of the other.

    Args:
        neighbours: k.

    Returns:
        The graph. Features are the pixels divided by 16, n×64 dense float32 in [0, 1]; classes are the digits 0 to 9.

    >>> digits_graph()
    Graph(nodes=1797, edges=12339, features=64, classes=10, labelled=1797)
    """
    from sklearn.datasets import load_digits  # slow to import, and rarely needed

    pixels, labels = load_digits(return_X_y=True)
    if not 1 <= neighbours < len(pixels):
        raise DatasetError(f"The number of neighbours must be from 1 to {len(pixels) - 1}. Got {neighbours} instead.")
    nearest = nearest_neighbours(pixels, neighbours)
    source = np.repeat(np.arange(len(pixels)), neighbours)
    return Graph.from_edges(
        np.stack([source, nearest.reshape(-1)], axis=1),
        (pixels / 16).astype(np.float32),
        labels,
        classes=np.arange(10),
        name="digits",
    )


def nearest_neighbours(points: np.ndarray, k: int) -> np.ndarray:
    """The k nearest other rows of each row, by ‖p−q‖² = ‖p‖² + ‖q‖² − 2 p·q.

    On whole numbers every step is exact, so all machines build the same graph.

    Args:
        points: (n, D).
        k: number of neighbours.

    Returns:
        (n, k) row numbers, nearest first; at equal distance the lower number first.

    >>> nearest_neighbours(np.array([[0.0], [1.0], [3.0], [7.0]]), 1).ravel()
    array([1, 0, 1, 2])
    """
    squares = np.einsum("ij,ij->i", points, points)
    nearest = np.empty((len(points), k), dtype=np.int64)
    for start in range(0, len(points), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(points)))
        distances = squares[rows, None] + squares[None, :] - 2 * points[rows] @ points.T
        distances[np.arange(len(rows)), rows] = np.inf
        nearest[rows] = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return nearest
