"""Exact inference in blocks: layer by layer over all nodes, so that no block needs more than one hop.

For layer l, every block reads H^l of its nodes and their neighbours from a buffer of all nodes and writes H^{l+1} of its own
to another. The Gram matrix of the soft orthogonal term is summed over all blocks first: G = Σ_B Z_BᵀZ_B. The result is that
of a walk over the whole graph, but for the order of sums; memory is two n×d buffers, in a file where they are large, and
one block.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor

from ncgc.nn import SOGN, Output
from ncgc.nn.layer import Hidden, Layer, Pass
from ncgc.ops import ALONE, Reduction
from ncgc.ops.soft_orthogonal import gram
from ncgc.partition.operators import PartOperators, Source
from ncgc.partition.running import Known

IN_FILE = 2**30  # bytes from which a buffer lies in a file
BLOCK = 50_000  # nodes of a block where nobody has cut the graph into parts

Blocks = Sequence[Callable[[], PartOperators]]  # made when asked for, so that one at a time need be in memory


def row_blocks(source: Source, rows: int = BLOCK) -> Blocks:
    """The graph in blocks of consecutive nodes."""
    n = source.graph.num_nodes

    def block(start: int) -> Callable[[], PartOperators]:
        return lambda: source.part(np.arange(start, min(start + rows, n)), hops=1)

    return [block(start) for start in range(0, n, rows)]


@torch.no_grad()
def exact_output(network: SOGN, blocks: Blocks, nodes: int, embeddings: bool = True) -> Output:
    """Embeddings (n×d) and logits (n×K) of all nodes, without dropout; ``embeddings`` as in :meth:`SOGN.forward`."""
    training = network.training
    network.eval()
    try:
        return _walk(network, blocks, nodes, embeddings)
    finally:
        network.train(training)


def _walk(network: SOGN, blocks: Blocks, nodes: int, embeddings: bool) -> Output:
    width = network.hidden
    h, initial = None, None
    if network.entry is not None:
        initial = h = _buffer(nodes, width)
        for operators in _each(blocks):
            entered = cast(Tensor, network.enter(operators.features, Pass(operators)))
            h[operators.part.owned] = entered[: operators.owned]
    for i in range(len(network.convs)):
        reduction = _whole_gram(network, i, blocks, h)
        following = _buffer(nodes, width)
        for operators in _each(blocks):
            walk = Pass(operators, initial=None if initial is None else initial[operators.rows])
            operators.reduction = reduction
            out = network.layer(i, _seen(h, operators), walk)
            following[operators.part.owned] = out[: operators.owned]
        h = following
    assert h is not None
    if not network.decoupled:
        return Output(h, h @ network.prototypes)
    if not embeddings:
        return Output(h, _propagated(blocks, h @ network.prototypes, network.alpha, network.steps))
    h = _propagated(blocks, h, network.alpha, network.steps)
    return Output(h, h @ network.prototypes)


def _whole_gram(network: SOGN, i: int, blocks: Blocks, h: Tensor | None) -> Reduction:
    """ZᵀZ of layer i over all nodes, for whoever asks."""
    layer = cast(Layer, network.convs[i])
    if layer.beta == 0.0:
        return ALONE
    total: Tensor | None = None
    for operators in _each(blocks):
        # the owned rows alone are needed, but features come with those of the halo
        seen = operators.features if h is None else h[operators.part.owned]
        part = gram(layer.transformed(seen)[: operators.owned])
        total = part if total is None else total.add_(part)
    assert total is not None
    return Known(total)


def _propagated(blocks: Blocks, start: Tensor, alpha: float, steps: int) -> Tensor:
    """APPNP's propagation of n×c columns, a block after the other."""
    h = start
    for _ in range(steps):
        following = torch.empty_like(start)
        for operators in _each(blocks):
            own = operators.gcn.product(h[operators.rows])[: operators.owned]
            rows = operators.part.owned
            following[rows] = torch.add(alpha * start[rows], own, alpha=1.0 - alpha)
        h = following
    return h


def _seen(h: Tensor | None, operators: PartOperators) -> Hidden:
    return operators.features if h is None else h[operators.rows]


def _each(blocks: Blocks) -> Iterator[PartOperators]:
    for make in blocks:
        yield make()


def _buffer(rows: int, columns: int) -> Tensor:
    """(rows, columns) not yet written; in a temporary file that vanishes with it where it is large."""
    if rows * columns * 4 < IN_FILE:
        return torch.empty(rows, columns)
    with tempfile.TemporaryFile() as file:
        return torch.from_numpy(np.memmap(file, dtype=np.float32, mode="w+", shape=(rows, columns)))
