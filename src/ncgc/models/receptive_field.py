"""The receptive field of a few nodes: all that two layers need to know of a graph to say something of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ncgc.nn import GraphOperators
from ncgc.ops import FeatureMatrix, SparseMatrix


@dataclass(frozen=True, eq=False)
class Field:
    """Rows of Â and X with the columns that are used: (Â·σ(Â·X·W₀)·W₁)[nodes] = outer·σ(inner·rows·W₀)·W₁.

    Attributes:
        outer: l×m, rows of Â at the l nodes. inner: m×r, rows of Â at their m neighbours.
        features: r×D, rows of X at the neighbours' neighbours.
    """

    outer: SparseMatrix
    inner: SparseMatrix
    features: FeatureMatrix


def receptive_field(operators: GraphOperators, nodes: Tensor) -> Field:
    """The receptive field of some nodes through two layers of Â.

    Args:
        operators: of the graph.
        nodes: (l,) numbers, any of which may occur twice.

    Returns:
        The rows of Â and X that two layers need.

    >>> from ncgc import Graph
    >>> path = Graph.from_edges([[0, 1], [1, 2], [2, 3], [3, 4]], np.eye(5))
    >>> field = receptive_field(GraphOperators(path), torch.tensor([0]))
    >>> field.outer.shape, field.inner.shape, field.features.shape
    ((1, 2), (2, 3), (3, 5))
    """
    whole = operators.gcn
    matrix = sparse.csr_array((whole.values.numpy(), whole.columns.numpy(), whole.row_pointers.numpy()), whole.shape)
    outer, near = _used(matrix[nodes.numpy()])
    inner, far = _used(matrix[near])
    return Field(
        SparseMatrix.from_scipy(outer, dtype=operators.dtype),
        SparseMatrix.from_scipy(inner, dtype=operators.dtype),
        operators.features.for_dropout.take(torch.from_numpy(far)),
    )


def _used(rows: sparse.csr_array) -> tuple[sparse.csr_array, np.ndarray]:
    """A matrix without its empty columns, and which columns are left."""
    columns, places = np.unique(rows.indices, return_inverse=True)
    return sparse.csr_array((rows.data, places, rows.indptr), shape=(rows.shape[0], len(columns))), columns
