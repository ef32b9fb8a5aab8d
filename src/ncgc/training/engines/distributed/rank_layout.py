"""RankLayout: the parts of a graph dealt to many processes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from ncgc.errors import ParameterError
from ncgc.nn import SOGN, Output
from ncgc.training.engines.distributed.fetched_embeddings import FetchedEmbeddings
from ncgc.training.engines.distributed.rank_operators import RankOperators
from ncgc.training.engines.distributed.shared_totals import SharedTotals
from ncgc.training.engines.partition.cache import Cache
from ncgc.training.engines.partition.engine import CACHED
from ncgc.training.engines.partition.halo import make_part
from ncgc.training.engines.partition.historical_embeddings import HistoricalEmbeddings
from ncgc.training.engines.partition.label_blocks import BACKBONES, MOST, WIDER, LabelOperators
from ncgc.training.engines.partition.part_operators import PartOperators, Source
from ncgc.training.engines.partition.running_totals import Totals
from ncgc.training.learner import Learner


def dealt(parts: int, processes: int) -> np.ndarray:
    """Deal parts to processes, as many to each; neighbours by number stay together, as METIS numbers them.

    Args:
        parts: how many there are.
        processes: how many there are.

    Returns:
        (parts,) the process that has each part.

    >>> dealt(5, 2)
    array([0, 0, 0, 1, 1])
    """
    if parts < processes:
        raise ParameterError(f"{parts} parts cannot be dealt to {processes} processes; take at least a part for each.")
    groups = np.array_split(np.arange(parts), processes)
    return np.repeat(np.arange(processes), [len(group) for group in groups])


class RankLayout:
    """The parts of one process among many; see :class:`ncgc.training.engines.partition.engine.Layout`.

    A step is over the same parts whoever has them, each computed by its owner; their gradients and losses are added up in one
    message. Running totals are those of all processes, brought up to date when a step ends (:class:`SharedTotals`); in one
    process the parts of a step follow each other and know the earlier ones already. The labels of a part are a block, so that
    it does not matter who has which part; in one process they are in as few blocks as there is room for. The evaluation pass
    is exact, with halo exchange over all nodes of the process at once; the rows of it that the parts of the process need and
    the process does not have are fetched as they come about (:class:`FetchedEmbeddings`). The result is the same for any
    number of processes, but for rounding.

    Args:
        source: the graph, from which the own parts are cut with their halo.
        operators: all nodes of this process, for the evaluation pass.
        learner: whose objective has the nodes of this process, by their place in it.
        part_of: (n,) the part of each node.
        own: the numbers of this process's parts.
        parts: of all processes.
        hops: of the halo.
    """

    def __init__(
        self,
        source: Source,
        operators: RankOperators,
        learner: Learner,
        part_of: np.ndarray,
        own: Sequence[int],
        parts: int,
        hops: int,
    ):
        assert learner.supervision is not None
        assert isinstance(learner.network, SOGN)
        objective, reduction = learner.supervision.objective, learner.reduction
        self.source, self.rank_operators, self.hops = source, operators, hops
        self.nodes, self.parts, self.own = source.graph.num_nodes, parts, list(own)
        ids = operators.part.owned  # the objective's nodes are numbered within this process
        self.part_of = torch.from_numpy(part_of[ids]).long()
        self.labelled, self.unlabelled = ids[objective.train_index.numpy()], ids[objective.unlabelled_index.numpy()]
        self.counts = reduction.count(len(self.labelled)), reduction.count(len(self.unlabelled))
        self._owned = {part: np.flatnonzero(part_of == part) for part in self.own}
        self._fetched = FetchedEmbeddings(operators, source.graph.adjacency, list(self._owned.values()), hops)
        self.history: HistoricalEmbeddings = self._fetched
        self._blocks = self._blocks_of_labels(learner, part_of, -(-self.nodes // parts))
        self.label_blocks, self._layers = list(self._blocks), len(learner.network.convs)
        self.separate_labels = reduction.count(len(self._blocks)) > 0  # here or elsewhere
        # a row for every part, and one for its labels, which own no node
        rows = np.bincount(part_of, minlength=parts).tolist() + [0] * parts
        self.totals: Totals = SharedTotals(rows, [*self.own, *self._blocks], reduction)
        self._cached, self._cached_labels = Cache(CACHED), Cache(CACHED // 2)

    def _blocks_of_labels(self, learner: Learner, part_of: np.ndarray, room: int) -> dict[int, np.ndarray]:
        """The labelled nodes of every own part by its row in the totals; none, in all processes, where one has too many."""
        assert learner.supervision is not None
        assert isinstance(learner.network, SOGN)
        network, objective, reduction = learner.network, learner.supervision.objective, learner.reduction
        found: dict[int, np.ndarray] = {}
        seen, too_large = 0, False
        if network.backbone in BACKBONES and objective.settings.label_loss_weight > 0:
            for part in np.unique(part_of[self.labelled]).tolist():
                nodes = np.sort(self.labelled[part_of[self.labelled] == part])
                size = len(make_part(self.source.graph.adjacency, nodes, len(network.convs)).nodes)
                seen, too_large = seen + size, too_large or size > WIDER * room
                found[self.parts + part] = nodes
        if reduction.count(int(too_large)) or reduction.count(seen) > MOST * self.nodes:
            return {}
        return found

    def operators(self, number: int) -> PartOperators:
        if number >= self.parts:
            block = self._blocks[number]
            return self._cached_labels.get(number, lambda: LabelOperators(self.source, block, self._layers))
        return self._cached.get(number, lambda: self.source.part(self._owned[number], self.hops, self.history))

    def evaluate(self, network: SOGN) -> Output:
        with self._fetched.recording():
            output: Output = network(self.rank_operators, embeddings=False)
        return output

    def output(self, network: SOGN) -> Output:
        return self.rank_operators.gathered_output(network)
