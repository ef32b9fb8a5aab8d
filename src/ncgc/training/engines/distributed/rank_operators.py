"""RankOperators: the rows of a graph that one process owns, as the tensors that layers multiply with; sums by AllReduce."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from ncgc.errors import ParameterError
from ncgc.graph import Graph
from ncgc.nn import SOGN, GraphOperators, Output
from ncgc.ops import FeatureMatrix, Reduction, SparseMatrix
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.distributed.halo_exchange import HaloMatrix, HaloPlan
from ncgc.training.engines.distributed.scatter import Rows


class AllReduce(Reduction):
    """Every sum, maximum and count is that of all processes of a group. What is sent is d×d and K numbers, whatever n is.

    Args:
        group: the processes.
        owned: (m,) global numbers of the rows that this one has, in their order.

    >>> reduction = AllReduce(Group(), torch.arange(3))
    >>> reduction.total(torch.ones(2)), reduction.count(3)
    (tensor([1., 1.]), 3)
    """

    alone = False

    def __init__(self, group: Group, owned: Tensor):
        self.group, self.ids = group, owned

    def total(self, values: Tensor) -> Tensor:
        return self.group.summed(values)

    def count(self, number: int) -> int:
        return int(self.group.summed(torch.tensor(number)))

    def highest(self, values: Tensor) -> Tensor:
        return self.group.highest(values)

    def rows(self, values: Tensor, index: Tensor) -> Tensor:
        """Rows of the whole graph by their global numbers, each sent by its owner.

        Args:
            values: (m, d) own rows.
            index: (k,) global numbers, the same in every process. A message has k·d numbers, so take a sample.

        Returns:
            (k, d).
        """
        wanted, order = index.sort()
        place = torch.searchsorted(wanted, self.ids).clamp_max_(max(len(wanted) - 1, 0))
        mine = wanted[place] == self.ids if len(wanted) else torch.zeros_like(self.ids, dtype=torch.bool)
        found = values.new_zeros(len(index), values.shape[1])
        found[order[place[mine]]] = values[mine]
        return self.group.summed(found)

    def agreed(self, values: Tensor) -> Tensor:
        return self.group.from_first(values)


class RankOperators(GraphOperators):
    """:class:`GraphOperators` for the nodes of a process: propagation with halo exchange, own rows of X, sums by all-reduce.

    Args:
        graph: the whole graph, or its summary: only its name and sizes are used.
        rows: of the graph that this process owns.
        owner: (n,) the process that owns each node.
        group: the processes.
        dtype: of matrices and features.
    """

    def __init__(self, graph: Graph, rows: Rows, owner: np.ndarray, group: Group, dtype: torch.dtype = torch.float32):
        super().__init__(graph, dtype)
        self.part, self.kind, self.owner = rows.part, rows.kind, owner
        self.plan = HaloPlan(group, self.part, owner)
        self.reduction = AllReduce(group, torch.from_numpy(self.part.owned))
        # made at once, so that nothing keeps the rows in their first form
        self._matrix = HaloMatrix.split(rows.matrix, self.plan, symmetric=rows.kind == "gcn", dtype=dtype)
        self._features = FeatureMatrix(rows.features, dtype=dtype)

    @property
    def num_nodes(self) -> int:
        return len(self.part.owned)

    @torch.no_grad()
    def gathered_output(self, network: SOGN) -> Output:
        """The evaluation pass over all nodes.

        Args:
            network: trained.

        Returns:
            (n, d) embeddings and (n, K) logits of all nodes in the first process, of the own nodes in the others.
        """
        output: Output = network.eval()(self)
        group = self.plan.group
        ids = group.gathered(torch.from_numpy(self.part.owned))

        def whole(own: Tensor) -> Tensor:
            found = group.gathered(own)
            if not group.first:
                return own
            full = own.new_empty(self.graph.num_nodes, own.shape[1])
            for rows, values in zip(ids, found, strict=True):
                full[rows] = values
            return full

        return Output(whole(output.embeddings), whole(output.logits))

    @cached_property
    def features(self) -> FeatureMatrix:
        return self._features

    @cached_property
    def gcn(self) -> SparseMatrix:
        return self._of("gcn")

    @cached_property
    def mean(self) -> SparseMatrix:
        return self._of("mean")

    def _of(self, kind: str) -> HaloMatrix:
        assert kind == self.kind, "a backbone propagates with one matrix"
        return self._matrix

    @cached_property
    def neighbourhood(self) -> SparseMatrix:
        raise ParameterError(
            "The backbone 'gat' does not train in several processes yet; take gcn, sage, gcnii or appnp."
        )

    @cached_property
    def edge_index(self) -> Tensor:
        raise ParameterError("PyG layers do not train in several processes yet; take gcn, sage, gcnii or appnp.")
