"""GraphOperators: a Graph as the tensors that layers multiply with, each made once, on first use."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ncgc.graph import Graph
from ncgc.ops import ALONE, FeatureMatrix, SparseMatrix, gcn_normalised, mean_normalised, with_self_loops


class GraphOperators:
    """The propagation matrices and features of one graph.

    Args:
        graph: symmetric adjacency A (n×n) and features X (n×D).
        dtype: of all matrices.

    Attributes:
        reduction: how sums over the rows are completed; the identity here, where all rows are present.

    >>> graph = Graph.from_edges([[0, 1]], np.eye(2))
    >>> GraphOperators(graph).gcn
    SparseMatrix(2×2, nnz=4, symmetric=True)
    """

    def __init__(self, graph: Graph, dtype: torch.dtype = torch.float32):
        self.graph = graph
        self.dtype = dtype
        self._scaled: dict[float, SparseMatrix] = {}
        self.reduction = ALONE

    @cached_property
    def _adjacency(self) -> sparse.csr_array:
        """A in float64 where that is the dtype, so that its normalised forms are not rounded to float32 on the way."""
        return self.graph.adjacency.astype(np.float64) if self.dtype == torch.float64 else self.graph.adjacency

    @property
    def num_nodes(self) -> int:
        """n."""
        return self.graph.num_nodes

    def of_layer(self, i: int) -> GraphOperators:
        """The operators of one layer: the same for all layers, unless later ones need fewer nodes.

        Args:
            i: number of the layer, from 0.

        Returns:
            The operators whose products the layer uses.
        """
        return self

    @cached_property
    def features(self) -> FeatureMatrix:
        """X (n×D), sparse or dense by its density."""
        return FeatureMatrix(self.graph.features, dtype=self.dtype)

    @cached_property
    def gcn(self) -> SparseMatrix:
        """Â = D̃^-1/2 (A+I) D̃^-1/2 (n×n)."""
        return SparseMatrix.from_scipy(gcn_normalised(self._adjacency), symmetric=True, dtype=self.dtype)

    def scaled_gcn(self, factor: float) -> SparseMatrix:
        """factor·Â, for layers that mix the propagation with another term; made once for each factor.

        Args:
            factor: of every entry.

        Returns:
            n×n.
        """
        if factor not in self._scaled:
            self._scaled[factor] = self.gcn.scaled(factor)
        return self._scaled[factor]

    @cached_property
    def mean(self) -> SparseMatrix:
        """D^-1 A (n×n): the mean over neighbours."""
        return SparseMatrix.from_scipy(mean_normalised(self._adjacency), dtype=self.dtype)

    @cached_property
    def neighbourhood(self) -> SparseMatrix:
        """A+I with the edge weights as values (n×n): the nodes that each node attends to."""
        return SparseMatrix.from_scipy(with_self_loops(self._adjacency), dtype=self.dtype)

    @cached_property
    def edge_index(self) -> Tensor:
        """(2, m) both directions of every edge, as PyG layers take it."""
        coo = self.graph.adjacency.tocoo()
        return torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))

    @cached_property
    def edge_weight(self) -> Tensor | None:
        """(m,) weights in the order of ``edge_index``, or None when all are 1."""
        return torch.from_numpy(self.graph.adjacency.tocoo().data).to(self.dtype) if self.graph.weighted else None
