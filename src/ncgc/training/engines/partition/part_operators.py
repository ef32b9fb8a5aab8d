"""PartOperators: a part of a graph with its halo, as the tensors that layers multiply with; and a cache of such parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ncgc.errors import ParameterError
from ncgc.graph import Graph
from ncgc.graph.features import FeatureNormalizer
from ncgc.graph.validation import Features, row_blocks
from ncgc.nn import GraphOperators
from ncgc.ops import FeatureMatrix, SparseMatrix, gcn_normalised, mean_normalised, with_self_loops
from ncgc.training.engines.partition.halo import Part, make_part
from ncgc.training.engines.partition.historical_embeddings import HistoricalEmbeddings, OutsideMatrix, buffer

ENTRY_BYTES = 44  # of a matrix: value and column, the same of its transpose, and where each of its entries came from


class PartSource:
    """A whole graph that parts are cut from: features are read for the rows of one part at a time.

    ``graph.features`` may be memory-mapped (``np.load(..., mmap_mode="r")``): only the rows of a part are read.
    Propagation matrices, and features that have to be normalised, are computed once, for all nodes.

    Args:
        graph: with features that are not normalised yet.
        normalizer: how to normalise them.

    Attributes:
        gcn: n×n D̃^-1/2 (A+I) D̃^-1/2.
        mean: n×n D^-1 A.
        loops: n×n A+I.
    """

    def __init__(self, graph: Graph, normalizer: FeatureNormalizer):
        self.graph, self.normalizer = graph, normalizer

    @cached_property
    def gcn(self) -> sparse.csr_array:
        return gcn_normalised(self.graph.adjacency)

    @cached_property
    def mean(self) -> sparse.csr_array:
        return mean_normalised(self.graph.adjacency)

    @cached_property
    def loops(self) -> sparse.csr_array:
        """A + I (n×n)."""
        return with_self_loops(self.graph.adjacency)

    def features(self, nodes: np.ndarray | slice) -> FeatureMatrix:
        """The normalised features of some nodes.

        Args:
            nodes: (m,) numbers, or a range.

        Returns:
            (m, D).
        """
        rows = self._normalised[nodes]
        return FeatureMatrix(rows if sparse.issparse(rows) or rows.flags.writeable else rows.copy())

    def rows(self, nodes: np.ndarray) -> Features:
        """The normalised features of some nodes as an array; nothing is cached for the next call.

        Args:
            nodes: (m,) numbers.

        Returns:
            (m, D).
        """
        rows = replace(
            self.graph, features=self.graph.features[nodes]
        )  # a row is normalised by itself and the fitted mean
        return self.normalizer.apply(rows).features

    @cached_property
    def _normalised(self) -> Features:
        """X normalised, all rows; in a file where it is large. Three passes an epoch would otherwise repeat the work."""
        given = self.graph.features
        if self.normalizer.kind == "raw" and self.normalizer.mean is None:
            return given
        if sparse.issparse(given):
            return self.normalizer.apply(self.graph).features
        normalised = buffer(*given.shape)
        for rows in row_blocks(*given.shape):  # a row is normalised by itself and the fitted mean
            normalised[rows] = self.normalizer.apply(replace(self.graph, features=given[rows])).features
        return normalised

    def part(self, owned: np.ndarray, hops: int, history: HistoricalEmbeddings | None = None) -> PartOperators:
        """Cut out a part.

        Args:
            owned: (m,) its nodes, ascending.
            hops: of its halo.
            history: stands for the neighbours outside the halo.

        Returns:
            The part's operators, owned nodes first.
        """
        return PartOperators(self, make_part(self.graph.adjacency, owned, hops), history)


class PartOperators(GraphOperators):
    """:class:`GraphOperators` for the nodes of a part: owned nodes first, then the halo.

    Matrices are square over these nodes. The rows of nodes whose neighbours are all here are those of the whole graph; those
    of the outermost hop miss some neighbours. With ``history`` these are as they were in the last evaluation pass
    (:class:`OutsideMatrix`). Without it the row is multiplied up to the sum it has in the whole graph, so that the neighbours
    here stand for the others. With as many hops as layers the owned rows of every layer are exact either way.

    Args:
        source: the graph.
        part: the nodes.
        history: embeddings of the last evaluation pass.

    Attributes:
        rows: (m+h,) the nodes by their number in the graph.
    """

    def __init__(self, source: PartSource, part: Part, history: HistoricalEmbeddings | None = None):
        super().__init__(source.graph)
        self.source, self.part, self.history = source, part, history
        self.rows = torch.from_numpy(part.nodes)

    @property
    def num_nodes(self) -> int:
        return len(self.rows)

    @property
    def owned(self) -> int:
        return len(self.part.owned)

    @property
    def nbytes(self) -> int:
        """An estimate of the memory of its features, a propagation matrix and its transpose."""
        source = self.source.graph
        entries = int(np.diff(source.adjacency.indptr)[self.part.nodes].sum()) + len(self.rows)
        stored = source.features.nnz / source.num_nodes if sparse.issparse(source.features) else source.num_features
        return int(ENTRY_BYTES * entries + 4 * stored * len(self.rows))

    @cached_property
    def features(self) -> FeatureMatrix:
        return self.source.features(self.part.nodes)

    @cached_property
    def gcn(self) -> SparseMatrix:
        return self._restricted(self.source.gcn)

    @cached_property
    def mean(self) -> SparseMatrix:
        return self._restricted(self.source.mean)

    def _restricted(self, whole: sparse.csr_array, complete: bool = True) -> SparseMatrix:
        """P between the nodes of the part; ``complete`` makes up for the neighbours outside of it."""
        nodes = self.part.nodes
        place = np.full(whole.shape[0], -1, dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        rows = sparse.csr_array(whole[nodes])
        local = place[rows.indices]
        kept = local >= 0
        row = np.repeat(np.arange(len(nodes)), np.diff(rows.indptr))
        if complete and self.history is not None:
            there, known = self.history.columns(rows.indices[~kept], whole.shape[0])
            missing = (rows.data[~kept], (row[~kept], there))
            outer = SparseMatrix.from_scipy(sparse.csr_array(missing, shape=(len(nodes), known)))
            return OutsideMatrix(self._restricted(whole, complete=False), outer, self.history)
        full = np.bincount(row, weights=rows.data, minlength=len(nodes))
        here = np.bincount(row[kept], weights=rows.data[kept], minlength=len(nodes))
        scale = np.divide(full, here, out=np.ones_like(full), where=here > 0)
        scale[: self.part.inner if complete else len(nodes)] = 1.0
        values = rows.data[kept] * scale[row[kept]].astype(rows.dtype)
        matrix = sparse.csr_array((values, (row[kept], local[kept])), shape=(len(nodes), len(nodes)))
        return SparseMatrix.from_scipy(matrix)

    @cached_property
    def neighbourhood(self) -> SparseMatrix:
        """A+I between the nodes of the part. A softmax sums to 1 whichever neighbours are missing, so no row is rescaled."""
        return self._restricted(self.source.loops, complete=False)

    @cached_property
    def edge_index(self) -> Tensor:
        raise ParameterError("PyG layers do not train by parts yet; take gcn, gat, sage, gcnii or appnp.")


class Sized(Protocol):
    """What a :class:`Cache` can hold."""

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""


Kept = TypeVar("Kept", bound=Sized)


class Cache:
    """Keeps the first items that fit into a number of bytes; the others are made again on every call.

    Every epoch needs each part once, in another order. The most recent item is no more likely to be next than any other, so
    nothing is evicted. Cached parts hold no reference cycles, so their memory is freed at once.

    Args:
        room: bytes.
    """

    def __init__(self, room: int):
        self.room = room
        self._kept: dict[int, Sized] = {}

    def get(self, number: int, make: Callable[[], Kept]) -> Kept:
        """Get an item, making it if it is not cached.

        Args:
            number: of the item.
            make: makes it.

        Returns:
            The item, which is cached from now on if it fits.
        """
        if number in self._kept:
            return self._kept[number]  # type: ignore[return-value]
        made = make()
        if made.nbytes <= self.room:
            self.room -= made.nbytes
            self._kept[number] = made
        return made

    def __len__(self) -> int:
        return len(self._kept)
