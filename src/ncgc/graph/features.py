"""Feature matrices, CSR or dense: column means, row normalisation, and the normaliser that a model keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ncgc.errors import GraphError
from ncgc.graph.validation import Features

if TYPE_CHECKING:
    from ncgc.graph.graph import Graph

# Density from which features count as measurements rather than words (PubMed, words: 0.10; Photo: 0.35).
DENSE = 0.2
SPARSE_BELOW = 0.06  # density below which features are stored as CSR: there the sparse product is the cheaper one

# the parameter "features" → the norm that each row is divided by
ROWS = {"raw": None, "row": "sum", "unit": "length", "centred": "length", "binary": "sum"}


@dataclass(frozen=True, eq=False)
class FeatureNormalizer:
    """Normalises features as the ``features`` parameter names, with the column means of the graph it was fitted on.

    Attributes:
        kind: "raw", "row" (rows divided by their sum), "unit" (by their length), "centred" (centred, then divided by
            their length) or "binary" (non-zeros set to 1, then rows divided by their sum).
        mean: (D,) float32 column means of the fitted graph; None where nothing is subtracted.

    >>> from ncgc.graph import Graph
    >>> graph = Graph.from_edges([[0, 1]], [[3.0, 0.0], [1.0, 4.0]])
    >>> normalizer = FeatureNormalizer.fit(graph, "centred")
    >>> normalizer.mean
    array([2., 2.], dtype=float32)
    >>> normalizer.apply(Graph.from_edges([], [[2.0, 5.0]])).features
    array([[0., 1.]], dtype=float32)
    """

    kind: str
    mean: np.ndarray | None = None

    @classmethod
    def fit(cls, graph: Graph, kind: str) -> FeatureNormalizer:
        """Learn the column means where ``kind`` needs them and the features are dense.

        Rows of many positive numbers all point the same way, and a network spends its first epochs unlearning that.
        With few non-zeros the mean is near zero anyway, and subtracting it would make X dense.

        Args:
            graph: the graph to learn from.
            kind: a key of ``ROWS``.

        Returns:
            The fitted normaliser.
        """
        centre = kind == "centred" and graph.feature_density >= DENSE
        return cls(kind, graph.feature_mean() if centre else None)

    def apply(self, graph: Graph) -> Graph:
        """Normalise the features of a graph; the mean is the fitted one, whatever this graph's own is.

        Args:
            graph: any graph with the columns of the fitted one.

        Returns:
            The same graph with normalised features.

        Raises:
            GraphError: if the number of columns differs from the fitted one.
        """
        if self.mean is not None:
            if graph.num_features != len(self.mean):
                raise GraphError(
                    f"The graph has {graph.num_features} features but the normaliser was fitted on {len(self.mean)}; "
                    "give the same columns in the same order."
                )
            graph = graph.centred(self.mean)
        if self.kind == "binary":
            graph = replace(graph, features=(graph.features != 0).astype(graph.features.dtype))
        norm = ROWS[self.kind]
        return graph if norm is None else graph.row_normalised(norm)


def as_dense(features: Features) -> np.ndarray:
    """The features as a dense array.

    Args:
        features: n×D, CSR or dense.

    Returns:
        (n, D) the array itself where it is dense already, otherwise a dense copy.
    """
    dense: np.ndarray = features.toarray() if sparse.issparse(features) else features
    return dense


def column_mean(features: Features) -> np.ndarray:
    """The mean of every column, summed in float64.

    Args:
        features: n×D, CSR or dense.

    Returns:
        (D,) float32.
    """
    mean: np.ndarray = as_dense(features).mean(axis=0, dtype=np.float64).astype(np.float32)
    return mean


def normalised_rows(features: Features, norm: str = "sum") -> Features:
    """Divide every row by its norm. Zero rows stay zero; CSR stays CSR.

    Args:
        features: n×D, CSR or dense.
        norm: "sum" (of absolute values) or "length" (Euclidean).

    Returns:
        n×D of the same kind and type.

    >>> normalised_rows(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    if sparse.issparse(features):
        n = features.shape[0]
        normalised = features.copy()
        normalised.data = _divided(features.data, np.repeat(np.arange(n), np.diff(features.indptr)), n, norm)
        return normalised
    largest = abs(features).max(axis=1, keepdims=True, initial=0)
    part = features / np.where(largest > 0, largest, 1)
    sizes = (abs(part) if norm == "sum" else part**2).sum(axis=1, keepdims=True, dtype=np.float64)
    sizes = (np.sqrt(sizes) if norm == "length" else sizes).astype(features.dtype)
    return np.multiply(part, np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0), out=part)


def _divided(values: np.ndarray, rows: np.ndarray, n: int, norm: str) -> np.ndarray:
    """Stored values divided by the norm of their row, ``rows`` being the row of each.

    Divided by the row's largest value first, so that neither sums nor squares overflow.
    """
    largest = np.zeros(n, dtype=values.dtype)
    np.maximum.at(largest, rows, abs(values))
    part = values / np.where(largest > 0, largest, 1)[rows]
    sizes = np.bincount(rows, weights=abs(part) if norm == "sum" else part**2, minlength=n)
    sizes = (np.sqrt(sizes) if norm == "length" else sizes).astype(values.dtype)
    divided: np.ndarray = part * np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)[rows]
    return divided
