"""Labelled nodes with all that their logits depend on, so that the loss on labels has its whole gradient by parts too.

A part sees the ways inside it: of a label's gradient, what goes through other parts is missing, and where neighbours are of one
class a part has the labels of few classes. Labels are few, though. With N_k the nodes at most k edges away from labelled ones
and r layers, layer i turns states of N_{r−i} into states of N_{r−i−1}:

    H^{i+1} = σ( P[N_{r−i−1}, N_{r−i}]·H^i·W − … ),        H^0 the features of N_r, H^r the states of the labelled nodes,

so of the outermost nodes only the features are needed. Where even these are too many, the labelled nodes form several blocks.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import sparse

from ncgc.nn import SOGN, GraphOperators
from ncgc.ops import SparseMatrix
from ncgc.training.engines.partition.halo import make_part
from ncgc.training.engines.partition.part_operators import PartOperators, PartSource

SUPPORTED = ("gcn", "sage")  # the others see too far (appnp, gcnii) or need both ends of an edge (gat)
WIDER = 8  # times the nodes of a part that a block may see: of most of them only the features are needed
MOST = 1.0  # times the nodes of the graph that all blocks may see: beyond that the labels stay in their parts


class LabelOperators(PartOperators):
    """Some nodes with their receptive field, which every layer makes smaller.

    Args:
        source: the graph.
        owned: (t,) the nodes, ascending.
        layers: of the network, each of which sees one hop.
    """

    def __init__(self, source: PartSource, owned: np.ndarray, layers: int):
        super().__init__(source, make_part(source.graph.adjacency, owned, layers))
        nodes, within = self.part.nodes, self.part.within
        self._layers = [_RingOperators(source, nodes[: within[-1 - i]], within[-2 - i]) for i in range(layers)]

    @property
    def nbytes(self) -> int:
        rows = replace(self.part, halo=self.part.halo[: self.part.within[-2] - self.owned])  # that have products
        return PartOperators(self.source, rows).nbytes + 4 * self.source.graph.num_features * len(self.rows)

    def of_layer(self, i: int) -> GraphOperators:
        return self._layers[i]


class _RingOperators(GraphOperators):
    """What one layer multiplies with: the first ``rows`` of these nodes see all of them.

    It holds no reference to its block: a reference cycle would keep a large block in memory until garbage collection.
    """

    def __init__(self, source: PartSource, nodes: np.ndarray, rows: int):
        super().__init__(source.graph)
        self.source, self.nodes, self.rows = source, nodes, rows

    @cached_property
    def gcn(self) -> SparseMatrix:
        return self._cut(self.source.gcn)

    @cached_property
    def mean(self) -> SparseMatrix:
        return self._cut(self.source.mean)

    @cached_property
    def neighbourhood(self) -> SparseMatrix:
        return self._cut(self.source.loops)

    def _cut(self, whole: sparse.csr_array) -> SparseMatrix:
        """P[N_k, N_{k+1}]: no entry of these rows is elsewhere."""
        place = np.full(whole.shape[0], -1, dtype=np.int64)
        place[self.nodes] = np.arange(len(self.nodes))
        taken = sparse.csr_array(whole[self.nodes[: self.rows]])
        local = (taken.data, place[taken.indices], taken.indptr)
        return SparseMatrix.from_scipy(sparse.csr_array(local, shape=(self.rows, len(self.nodes))))


def label_blocks(network: SOGN, adjacency: sparse.csr_array, labelled: np.ndarray, part: int) -> list[np.ndarray]:
    """Group the labelled nodes into blocks whose receptive fields fit into memory.

    Args:
        network: whose layers define the receptive field.
        adjacency: n×n symmetric CSR.
        labelled: (t,) nodes.
        part: nodes of a part; a block may see :data:`WIDER` times as many.

    Returns:
        The nodes of each block, ascending; an empty list where the blocks would cost more than the parts.
    """
    if network.backbone not in SUPPORTED or not len(labelled):
        return []
    return _halved(adjacency, np.sort(labelled), len(network.convs), WIDER * part)


def _halved(adjacency: sparse.csr_array, labelled: np.ndarray, hops: int, room: int) -> list[np.ndarray]:
    """Halve until each block sees at most ``room`` nodes or has one label; no blocks if together they see too many.

    >>> chain = sparse.csr_array(np.eye(9, k=1) + np.eye(9, k=-1))
    >>> _halved(chain, np.array([0, 1, 7, 8]), hops=1, room=3)
    [array([0, 1]), array([7, 8])]
    >>> _halved(chain, np.array([0, 1, 7, 8]), hops=8, room=3)
    []
    """
    waiting, blocks, left = [labelled], [], int(MOST * adjacency.shape[0])
    while waiting:
        block = waiting.pop()
        size = len(make_part(adjacency, block, hops).nodes)
        if size > room and len(block) > 1:
            middle = len(block) // 2
            waiting += [block[middle:], block[:middle]]
            continue
        left -= size
        if left < 0:
            return []
        blocks.append(block)
    return blocks
