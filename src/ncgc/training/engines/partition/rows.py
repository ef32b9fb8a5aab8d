"""RowOperators: some consecutive nodes of a graph, whose neighbours are read from a buffer of all nodes."""

from __future__ import annotations

from functools import cached_property

import torch
from scipy import sparse
from torch import Tensor

from ncgc.nn import GraphOperators
from ncgc.ops import FeatureMatrix, SparseMatrix
from ncgc.training.engines.partition.part_operators import Source


class RowsMatrix(SparseMatrix):
    """Rows of a propagation matrix, as if it were square over them: P·Z is these rows times the Z of all nodes.

    Args:
        local: b×n, the rows.
        whole: (n, d) Z of all nodes, taken in place of the b rows that a product is handed.
    """

    def __init__(self, local: SparseMatrix, whole: Tensor):
        super().__init__(local.row_pointers, local.columns, local.values, (local.shape[0], local.shape[0]))
        self.local, self.whole = local, whole

    def added(
        self, start: Tensor, dense: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        return self.local.added(start, self.whole, beta=beta, alpha=alpha, out=out)

    def scaled(self, factor: float) -> RowsMatrix:
        return RowsMatrix(self.local.scaled(factor), self.whole)


class RowOperators(GraphOperators):
    """What :class:`GraphOperators` is for a whole graph, for a stretch of its nodes; for looking, not for gradients.

    Args:
        source: the graph.
        rows: the stretch.
        whole: (n, d) what is propagated, of all nodes; needed for products alone.
    """

    def __init__(self, source: Source, rows: slice, whole: Tensor | None = None):
        super().__init__(source.graph)
        self.source, self.rows, self.whole = source, rows, whole

    @property
    def num_nodes(self) -> int:
        return int(self.rows.stop - self.rows.start)

    @cached_property
    def features(self) -> FeatureMatrix:
        return self.source.features(self.rows)

    @cached_property
    def gcn(self) -> SparseMatrix:
        return self._rows_of(self.source.gcn)

    @cached_property
    def mean(self) -> SparseMatrix:
        return self._rows_of(self.source.mean)

    def _rows_of(self, matrix: sparse.csr_array) -> SparseMatrix:
        assert self.whole is not None
        return RowsMatrix(stretch(matrix, self.rows), self.whole)


def stretch(matrix: sparse.csr_array, rows: slice) -> SparseMatrix:
    """Consecutive rows of a CSR matrix; columns and values are where they were, not copied.

    >>> stretch(sparse.csr_array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]), slice(1, 3)).csr.to_dense()
    tensor([[0., 2.],
            [3., 0.]], dtype=torch.float64)
    """
    pointers = torch.from_numpy(matrix.indptr[rows.start : rows.stop + 1])
    first, last = int(pointers[0]), int(pointers[-1])
    columns, values = torch.from_numpy(matrix.indices[first:last]), torch.from_numpy(matrix.data[first:last])
    return SparseMatrix(pointers - first, columns, values, (len(pointers) - 1, int(matrix.shape[1])))
