"""Exact inference in blocks of rows: layer by layer over all nodes, so that a block needs one hop and copies none of it.

With H^l and Z = H^l·W of all nodes in two n×d buffers (in files where they are large), layer l is two walks over blocks B of
consecutive nodes:

    Z_B = H_B·W,    G = Σ_B Z_BᵀZ_B                    then    H_B ← σ( P_B·Z − β·Z_B·M + … ),    M from G,

where P_B (rows of B × all nodes) is a stretch of the propagation matrix as it lies in memory. The result is that of a walk over
the whole graph, but for the order of sums, whatever parts the graph was trained in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import torch
from torch import Tensor

from ncgc.nn import SOGN, Output
from ncgc.nn.layers import ForwardPass, Hidden, Layer
from ncgc.ops import ALONE, Reduction
from ncgc.ops.soft_orthogonal import gram
from ncgc.training.engines.partition.buffers import buffer
from ncgc.training.engines.partition.historical_embeddings import HistoricalEmbeddings
from ncgc.training.engines.partition.part_operators import Source
from ncgc.training.engines.partition.rows import RowOperators
from ncgc.training.engines.partition.running_totals import Known

BLOCK = 25_000  # nodes of a block


@torch.no_grad()
def evaluate_by_rows(
    network: SOGN,
    source: Source,
    embeddings: bool = True,
    block: int = BLOCK,
    history: HistoricalEmbeddings | None = None,
) -> Output:
    """Embeddings (n×d) and logits (n×K) of all nodes, without dropout; ``embeddings`` as in :meth:`SOGN.forward`.

    What every product with P multiplied is left in ``history``, if there is one.
    """
    training = network.training
    network.eval()
    try:
        return _walk(network, source, _blocks(source.graph.num_nodes, block), embeddings, history)
    finally:
        network.train(training)


def _blocks(nodes: int, rows: int) -> list[slice]:
    return [slice(start, min(start + rows, nodes)) for start in range(0, nodes, rows)]


def _walk(
    network: SOGN, source: Source, blocks: list[slice], embeddings: bool, history: HistoricalEmbeddings | None
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
            walk = ForwardPass(operators, initial=None if initial is None else initial[rows])
            following[rows] = network.layer(i, seen(operators), walk)
        h = following
    assert h is not None
    if not network.decoupled:
        return Output(h, h @ network.prototypes)
    if not embeddings:
        return Output(h, _propagated(source, blocks, h @ network.prototypes, network.alpha, network.steps, history))
    h = _propagated(source, blocks, h, network.alpha, network.steps)
    return Output(h, h @ network.prototypes)


def _attended(network: SOGN, i: int, source: Source, rows: slice, h: Tensor | None, reduction: Reduction) -> Tensor:
    """GAT's layer i on a block: its weights come from the rows of both ends, so the block is cut out with its neighbours."""
    operators = source.part(np.arange(rows.start, rows.stop), hops=1)
    operators.reduction = reduction
    seen: Hidden = operators.features if h is None else h[operators.rows]
    return network.layer(i, seen, ForwardPass(operators))[: operators.owned]


def _transform(
    layer: Layer, source: Source, blocks: list[slice], seen: Callable[[RowOperators], Hidden], z: Tensor
) -> Reduction:
    """Write Z of all nodes to ``z``; ZᵀZ, for whoever asks."""
    total = torch.zeros(z.shape[1], z.shape[1])
    for rows in blocks:
        z[rows] = layer.transformed(seen(RowOperators(source, rows)))
        if layer.beta != 0.0:
            total.add_(gram(z[rows]))
    return ALONE if layer.beta == 0.0 else Known(total)


def _propagated(
    source: Source,
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
