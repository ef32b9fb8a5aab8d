"""Exact inference in blocks of rows: layer by layer over all nodes, so that a block needs one hop and copies none of it.

With H^l and Z = H^l·W of all nodes in two n×d buffers (in files where they are large), layer l is two passes over blocks B of
consecutive nodes:

    Z_B = H_B·W,    G = Σ_B Z_BᵀZ_B                    then    H_B ← σ( P_B·Z − β·Z_B·M + … ),    M from G,

where P_B (rows of B × all nodes) is a slice of the propagation matrix as it lies in memory. The result is that of a forward pass
over the whole graph, but for the order of sums, whatever parts the graph was trained in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import cast

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ncgc.nn import SOGN, GraphOperators, Output
from ncgc.nn.layers import ForwardPass, Hidden, Layer
from ncgc.ops import ALONE, FeatureMatrix, Reduction, SparseMatrix
from ncgc.ops.soft_orthogonal import gram
from ncgc.training.engines.partition.historical_embeddings import HistoricalEmbeddings, buffer
from ncgc.training.engines.partition.part_operators import PartSource
from ncgc.training.engines.partition.running_totals import KnownSum

BLOCK = 25_000  # nodes of a block


@torch.no_grad()
def evaluate_by_rows(
    network: SOGN,
    source: PartSource,
    embeddings: bool = True,
    block: int = BLOCK,
    history: HistoricalEmbeddings | None = None,
) -> Output:
    """The evaluation pass in blocks of rows, in memory for n×d numbers and no copy of the graph.

    Args:
        network: put into evaluation mode for the pass.
        source: the graph.
        embeddings: as in :meth:`SOGN.forward`; without them APPNP propagates the K logits rather than d columns.
        block: nodes of a block.
        history: keeps the right-hand side of every product with P.

    Returns:
        (n, d) embeddings and (n, K) logits of all nodes.
    """
    training = network.training
    network.eval()
    try:
        return _forward(network, source, _blocks(source.graph.num_nodes, block), embeddings, history)
    finally:
        network.train(training)


def _blocks(nodes: int, rows: int) -> list[slice]:
    return [slice(start, min(start + rows, nodes)) for start in range(0, nodes, rows)]


def _forward(
    network: SOGN, source: PartSource, blocks: list[slice], embeddings: bool, history: HistoricalEmbeddings | None
) -> Output:
    nodes, width = source.graph.num_nodes, network.hidden
    h: Tensor | None = None
    initial: Tensor | None = None
    if network.entry is not None:
        h = initial = _buffer(nodes, width)
        for rows in blocks:
            operators = RowOperators(source, rows)
            initial[rows] = cast(Tensor, network.enter(operators.features, ForwardPass(operators)))
    shared = _buffer(nodes, width) if history is None or network.decoupled else None

    def seen(operators: RowOperators) -> Hidden:
        return operators.features if h is None else h[operators.rows]

    for i in range(len(network.convs)):
        z = history.place(i, nodes, width) if shared is None and history is not None else cast(Tensor, shared)
        reduction = _transform(cast(Layer, network.convs[i]), source, blocks, seen, z)
        # a block's own rows of H are read by that block alone, so the next H takes their place; not where it attends to others
        following = _buffer(nodes, width) if h is None or h is initial or network.backbone == "gat" else h
        for rows in blocks:
            if network.backbone == "gat":
                following[rows] = _attended(network, i, source, rows, h, reduction)
                continue
            operators = RowOperators(source, rows, z)
            operators.reduction = reduction
            forward = ForwardPass(operators, initial=None if initial is None else initial[rows])
            following[rows] = network.layer(i, seen(operators), forward)
        h = following
    assert h is not None
    if not network.decoupled:
        return Output(h, h @ network.prototypes)
    if not embeddings:
        return Output(h, _propagated(source, blocks, h @ network.prototypes, network.alpha, network.steps, history))
    h = _propagated(source, blocks, h, network.alpha, network.steps)
    return Output(h, h @ network.prototypes)


def _attended(network: SOGN, i: int, source: PartSource, rows: slice, h: Tensor | None, reduction: Reduction) -> Tensor:
    """GAT's layer i on a block: its weights come from the rows of both ends, so the block is cut out with its neighbours."""
    operators = source.part(np.arange(rows.start, rows.stop), hops=1)
    operators.reduction = reduction
    seen: Hidden = operators.features if h is None else h[operators.rows]
    return network.layer(i, seen, ForwardPass(operators))[: operators.owned]


def _transform(
    layer: Layer, source: PartSource, blocks: list[slice], seen: Callable[[RowOperators], Hidden], z: Tensor
) -> Reduction:
    """Write the (n, d) Z of all nodes to ``z``; the reduction knows ZᵀZ."""
    total = torch.zeros(z.shape[1], z.shape[1])
    for rows in blocks:
        z[rows] = layer.transformed(seen(RowOperators(source, rows)))
        if layer.beta != 0.0:
            total.add_(gram(z[rows]))
    return ALONE if layer.beta == 0.0 else KnownSum(total)


def _propagated(
    source: PartSource,
    blocks: list[slice],
    start: Tensor,
    alpha: float,
    steps: int,
    history: HistoricalEmbeddings | None = None,
) -> Tensor:
    """APPNP's propagation of n×c columns, a block after the other."""
    h = start
    for step in range(steps):
        if history is not None:
            history.keep(step, h)
        following = torch.empty_like(start)
        for rows in blocks:
            own = RowOperators(source, rows, h).gcn
            own.added(start[rows], start[rows], beta=alpha, alpha=1.0 - alpha, out=following[rows])
        h = following
    return h


def _buffer(rows: int, columns: int) -> Tensor:
    return torch.from_numpy(buffer(rows, columns))


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
    """:class:`GraphOperators` for some consecutive nodes, whose neighbours are read from a buffer; for evaluation, without gradients.

    Args:
        source: the graph.
        rows: the consecutive nodes.
        whole: (n, d) what is propagated, of all nodes; None where no product is needed.
    """

    def __init__(self, source: PartSource, rows: slice, whole: Tensor | None = None):
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
        return RowsMatrix(slice_rows(matrix, self.rows), self.whole)


def slice_rows(matrix: sparse.csr_array, rows: slice) -> SparseMatrix:
    """Consecutive rows of a CSR matrix, without a copy of its columns and values.

    Args:
        matrix: n×c.
        rows: b consecutive ones.

    Returns:
        b×c.

    >>> slice_rows(sparse.csr_array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]), slice(1, 3)).csr.to_dense()
    tensor([[0., 2.],
            [3., 0.]], dtype=torch.float64)
    """
    pointers = torch.from_numpy(matrix.indptr[rows.start : rows.stop + 1])
    first, last = int(pointers[0]), int(pointers[-1])
    columns, values = torch.from_numpy(matrix.indices[first:last]), torch.from_numpy(matrix.data[first:last])
    return SparseMatrix(pointers - first, columns, values, (len(pointers) - 1, int(matrix.shape[1])))
