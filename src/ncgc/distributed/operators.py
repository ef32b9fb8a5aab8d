"""RankOperators: the rows of a graph that one process owns, as the tensors that layers multiply with."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from ncgc.coerce import Features
from ncgc.distributed.all_reduce import AllReduce
from ncgc.distributed.group import Group
from ncgc.distributed.halo_exchange import HaloMatrix, HaloPlan
from ncgc.errors import ParameterError
from ncgc.nn import GraphOperators
from ncgc.ops import FeatureMatrix, SparseMatrix
from ncgc.partition import Part, make_part, propagation_rows
from ncgc.partition.operators import Source


class RankOperators(GraphOperators):
    """What :class:`GraphOperators` is for a whole graph: propagation with halo exchange, own rows of X, sums by all-reduce.

    Args:
        source: the whole graph and how its features are scaled; of these the own rows alone are read.
        owner: (n,) the process that owns each node.
        group: the processes.
    """

    def __init__(self, source: Source, owner: np.ndarray, group: Group, dtype: torch.dtype = torch.float32):
        graph = source.graph
        super().__init__(graph, dtype)
        self.part: Part = make_part(graph.adjacency, np.flatnonzero(owner == group.rank), hops=1)
        self.plan = HaloPlan(group, self.part, owner)
        self.reduction = AllReduce(group, torch.from_numpy(self.part.owned))
        self._own_features: Features = source.rows(self.part.owned)

    @property
    def num_nodes(self) -> int:
        return len(self.part.owned)

    @cached_property
    def features(self) -> FeatureMatrix:
        return FeatureMatrix(self._own_features, dtype=self.dtype)

    @cached_property
    def gcn(self) -> SparseMatrix:
        return self._rows("gcn")

    @cached_property
    def mean(self) -> SparseMatrix:
        return self._rows("mean")

    def _rows(self, kind: str) -> HaloMatrix:
        rows = propagation_rows(self._adjacency, self.part, kind)
        return HaloMatrix(SparseMatrix.from_scipy(rows, dtype=self.dtype), self.plan)

    @cached_property
    def neighbourhood(self) -> SparseMatrix:
        raise ParameterError(
            "The backbone 'gat' does not train in several processes yet; take gcn, sage, gcnii or appnp."
        )

    @cached_property
    def edge_index(self) -> Tensor:
        raise ParameterError("PyG layers do not train in several processes yet; take gcn, sage, gcnii or appnp.")
