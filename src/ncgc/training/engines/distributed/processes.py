"""SeveralProcesses: training in many processes, each with some of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ncgc.errors import ParameterError
from ncgc.graph import Graph
from ncgc.graph.features import FeatureNormalizer
from ncgc.nn import SOGN, Output
from ncgc.ops import RowGenerator
from ncgc.training.checkpoint import Peers
from ncgc.training.engines.distributed.communication import CommunicationReport, Meter, communication_report
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.distributed.rank_layout import RankLayout, assign_parts
from ncgc.training.engines.distributed.rank_operators import RankOperators
from ncgc.training.engines.distributed.scatter import GraphSummary, scatter_rows
from ncgc.training.engines.full_batch import FullBatch, ncgc_full_batch
from ncgc.training.engines.partition import WHOLE, Ownership, check_pymetis, partition
from ncgc.training.engines.partition.engine import Partition, check_trains
from ncgc.training.engines.partition.part_operators import PartSource
from ncgc.training.history import Watcher
from ncgc.training.learner import Learner

SUPPORTED = ("gcn", "sage", "gcnii", "appnp")  # whose layers exchange halos; gat needs both ends of an edge


class SeveralProcesses:
    """Some rows of the graph in this process; see :class:`ncgc.training.engines.placement.Placement`.

    The result is that of one process, but for the rounding of sums in another order: dropout depends on the node, not on
    who draws it. The graph is the same in every process; or, beside the first one, a :class:`GraphSummary`, and the rows come
    from the first.

    Args:
        group: the processes.
    """

    def __init__(self, group: Group):
        self.group, self.complete = group, group.first
        self.peers: Peers = group
        self.ownership: Ownership = WHOLE  # until the graph is placed
        self.meter = Meter(group)

    @property
    def ids(self) -> torch.Tensor:
        """(m,) numbers of this process's nodes."""
        return torch.from_numpy(self.operators.part.owned)

    def seeds(self, drawn: np.ndarray) -> list[int]:
        found: list[int] = self.group.from_first(torch.from_numpy(drawn.astype(np.int64))).tolist()
        return found

    def place(self, graph: Graph, parameters: dict[str, Any]) -> FeatureNormalizer:
        check_trains(parameters, "in several processes", SUPPORTED)
        self.graph, self.parameters = graph, parameters
        self.normalizer = _shared_normalizer(graph, parameters["features"], self.group)
        self.source, by_parts = PartSource(graph, self.normalizer), parameters["batch"] == "partitions"
        if by_parts and isinstance(graph, GraphSummary):
            raise ParameterError("batch='partitions' needs the graph in every process, not its summary.")
        self.parts = parameters["parts"] if by_parts else self.group.size
        self.rank_of = assign_parts(self.parts, self.group.size)
        self.part_of = shared_parts(graph, self.group, self.parts)
        owner = self.rank_of[self.part_of]
        kind = "mean" if parameters["backbone"] == "sage" else "gcn"
        self.operators = RankOperators(graph, scatter_rows(self.source, owner, self.group, kind), owner, self.group)
        self.ownership = Ownership(self.operators.part.owned, self.operators.reduction)
        return self.normalizer

    def engine(self, learner: Learner, seed: int) -> FullBatch | Partition:
        if self.parameters["batch"] == "full":
            draws = RowGenerator(seed, torch.from_numpy(self.operators.part.owned))
            return ncgc_full_batch(learner, self.operators, draws)
        own, halo = np.flatnonzero(self.rank_of == self.group.rank).tolist(), self.parameters["halo"]
        layout = RankLayout(self.source, self.operators, learner, self.part_of, own, self.parts, halo)
        return Partition(learner, layout, self.parameters["steps_per_epoch"], seed)

    def watching(self, watch: Watcher | None) -> Watcher | None:
        return self.meter.watching(watch)

    def output(self, network: SOGN) -> Output:
        return self.operators.gathered_output(network)

    def finish(self) -> CommunicationReport:
        self.group.where = "after training"
        part = self.operators.part
        return communication_report(self.group, self.meter, len(part.owned), len(part.halo))


def _shared_normalizer(graph: Graph, kind: str, group: Group) -> FeatureNormalizer:
    """How features are normalised, fitted in the first process, the only one that is sure to have all of them."""
    normalizer = FeatureNormalizer.fit(graph, kind)
    if normalizer.mean is None:  # by the density of the features, which every process knows
        return normalizer
    return FeatureNormalizer(kind, group.from_first(torch.from_numpy(normalizer.mean)).numpy())


def shared_parts(graph: Graph, group: Group, parts: int) -> np.ndarray:
    """Cut a graph with METIS in the first process, and send the parts to all.

    Args:
        graph: whole in the first process.
        group: the processes.
        parts: how many.

    Returns:
        (n,) the part of each node.
    """
    if parts > 1:
        check_pymetis()
    found = partition(graph.adjacency, parts) if group.first else np.zeros(graph.num_nodes, dtype=np.int32)
    shared: np.ndarray = group.from_first(torch.from_numpy(found)).numpy()
    return shared
