"""PartOperators: a part of a graph with its halo, as the tensors that layers multiply with."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

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
from ncgc.training.engines.partition.buffers import buffer
from ncgc.training.engines.partition.halo import Part, make_part
from ncgc.training.engines.partition.historical_embeddings import HistoricalEmbeddings, OutsideMatrix

ENTRY_BYTES = 44  # of a matrix: value and column, the same of its transpose, and where each of its entries came from


class Source:
    """A whole graph that parts are cut from: features are read, and scaled, for the rows of one part at a time.

    ``graph.features`` may be memory-mapped (``np.load(..., mmap_mode="r")``): only the rows asked for are brought in.
    Propagation matrices, and features that are to be scaled, are made once, for all nodes.
    """

    def __init__(self, graph: Graph, scaling: FeatureNormalizer):
        self.graph, self.scaling = graph, scaling

    @cached_property
    def gcn(self) -> sparse.csr_array:
        return gcn_normalised(self.graph.adjacency)

    @cached_property
    def mean(self) -> sparse.csr_array:
        return mean_normalised(self.graph.adjacency)

    @cached_property
    def loops(self) -> sparse.csr_array:
        return with_self_loops(self.graph.adjacency)

    def features(self, nodes: np.ndarray | slice) -> FeatureMatrix:
        """(m, D) the scaled features of these nodes."""
        rows = self._scaled[nodes]
        return FeatureMatrix(rows if sparse.issparse(rows) or rows.flags.writeable else rows.copy())

    def rows(self, nodes: np.ndarray) -> Features:
        """(m, D) the scaled features of these nodes, as an array, scaled now: for who asks once."""
        rows = replace(self.graph, features=self.graph.features[nodes])  # a row is scaled by itself and the fitted mean
        return self.scaling.apply(rows).features

    @cached_property
    def _scaled(self) -> Features:
        """X scaled, all rows of it; in a file where it is large. Three walks an epoch would otherwise scale it anew."""
        given = self.graph.features
        if self.scaling.kind == "raw" and self.scaling.mean is None:
            return given
        if sparse.issparse(given):
            return self.scaling.apply(self.graph).features
        scaled = buffer(*given.shape)
        for rows in row_blocks(*given.shape):  # a row is scaled by itself and the fitted mean
            scaled[rows] = self.scaling.apply(replace(self.graph, features=given[rows])).features
        return scaled

    def part(self, owned: np.ndarray, hops: int, history: HistoricalEmbeddings | None = None) -> PartOperators:
        return PartOperators(self, make_part(self.graph.adjacency, owned, hops), history)


class PartOperators(GraphOperators):
    """What :class:`GraphOperators` is for a whole graph, for the nodes of a part: owned ones first, then the halo.

    Matrices are square over these nodes. The rows of nodes whose neighbours are all here are those of the whole graph; those
    of the outermost hop miss some. With a last look these are taken as they were at the last look (:class:`OutsideMatrix`);
    without one the row is scaled up to the sum it has in the whole graph, so that the neighbours that are here stand for
    the others. With as many hops as layers the owned rows of every layer are exact either way.
    """

    def __init__(self, source: Source, part: Part, history: HistoricalEmbeddings | None = None):
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
        """About what the part takes once its features, a propagation matrix and its transpose are made."""
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

    def _restricted(self, whole: sparse.csr_array, scaled: bool = True) -> SparseMatrix:
        nodes = self.part.nodes
        place = np.full(whole.shape[0], -1, dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        rows = sparse.csr_array(whole[nodes])
        local = place[rows.indices]
        kept = local >= 0
        row = np.repeat(np.arange(len(nodes)), np.diff(rows.indptr))
        if scaled and self.history is not None:
            there, known = self.history.columns(rows.indices[~kept], whole.shape[0])
            missing = (rows.data[~kept], (row[~kept], there))
            outer = SparseMatrix.from_scipy(sparse.csr_array(missing, shape=(len(nodes), known)))
            return OutsideMatrix(self._restricted(whole, scaled=False), outer, self.history)
        full = np.bincount(row, weights=rows.data, minlength=len(nodes))
        here = np.bincount(row[kept], weights=rows.data[kept], minlength=len(nodes))
        scale = np.divide(full, here, out=np.ones_like(full), where=here > 0)
        scale[: self.part.inner if scaled else len(nodes)] = 1.0
        values = rows.data[kept] * scale[row[kept]].astype(rows.dtype)
        matrix = sparse.csr_array((values, (row[kept], local[kept])), shape=(len(nodes), len(nodes)))
        return SparseMatrix.from_scipy(matrix)

    @cached_property
    def neighbourhood(self) -> SparseMatrix:
        """A+I between the nodes of the part. A softmax sums to 1 whoever is missing, so no row is scaled."""
        return self._restricted(self.source.loops, scaled=False)

    @cached_property
    def edge_index(self) -> Tensor:
        raise ParameterError("PyG layers do not train by parts yet; take gcn, gat, sage, gcnii or appnp.")
