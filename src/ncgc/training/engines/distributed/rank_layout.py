"""RankLayout: the parts of a graph in many processes, with SharedTotals and FetchedEmbeddings, their sums and embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ncgc.errors import ParameterError
from ncgc.nn import SOGN, Output
from ncgc.ops import Reduction
from ncgc.training.engines.distributed.halo_exchange import HaloPlan
from ncgc.training.engines.distributed.rank_operators import RankOperators
from ncgc.training.engines.partition.engine import CACHED
from ncgc.training.engines.partition.halo import Part, make_part
from ncgc.training.engines.partition.historical_embeddings import HistoricalEmbeddings
from ncgc.training.engines.partition.label_blocks import MOST, SUPPORTED, WIDER, LabelOperators
from ncgc.training.engines.partition.part_operators import Cache, PartOperators, PartSource
from ncgc.training.engines.partition.running_totals import Totals
from ncgc.training.learner import Learner


def assign_parts(parts: int, processes: int) -> np.ndarray:
    """Assign parts to processes, as many to each; parts with close numbers stay together, as METIS numbers neighbours.

    Args:
        parts: how many there are.
        processes: how many there are.

    Returns:
        (parts,) the process that has each part.

    Raises:
        ParameterError: if there are fewer parts than processes.

    >>> assign_parts(5, 2)
    array([0, 0, 0, 1, 1])
    """
    if parts < processes:
        raise ParameterError(
            f"{parts} parts cannot be divided among {processes} processes; take at least a part for each."
        )
    groups = np.array_split(np.arange(parts), processes)
    return np.repeat(np.arange(processes), [len(group) for group in groups])


class RankLayout:
    """The parts of one process among many; see :class:`ncgc.training.engines.partition.engine.Layout`.

    A step is over the same parts whoever has them, each computed by its owner; their gradients and losses are added up in one
    message. Running totals are those of all processes, brought up to date when a step ends (:class:`SharedTotals`); in one
    process the parts of a step follow each other and know the earlier ones already. The labels of a part are a block, so that
    the result does not depend on the assignment; in one process they are in as few blocks as there is room for. The evaluation pass
    is exact, with halo exchange over all nodes of the process at once; the rows of it that the parts of the process need and
    the process does not have are fetched during it (:class:`FetchedEmbeddings`). The result is the same for any
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
        source: PartSource,
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
        if network.backbone in SUPPORTED and objective.settings.label_loss_weight > 0:
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


class SharedTotals(Totals):
    """What each part last summed to, and the sum over the parts of all processes as it was before the current step.

    With S the sum over all parts before the step, a part p that summed to v_p then and sums to v now gives the estimate

        S + v − v_p                        (v scaled up to all nodes before all parts were visited once):

    other parts of the same step do not see this change until the step ends, so the result does not depend on which process
    has which part. Changes are then added up in one message of d² and K numbers, whatever P and n are. A process keeps the
    rows of its own parts; those of others in :attr:`table` have no meaning.

    Args:
        owned: (P,) how many nodes each part owns.
        own: the numbers of this process's parts.
        reduction: of sums over processes.
    """

    def __init__(self, owned: Sequence[int], own: Sequence[int], reduction: Reduction):
        super().__init__(owned)
        self.own, self.reduction = torch.tensor(list(own)), reduction
        self._changes: dict[str, dict[int, Tensor]] = {}

    def add(self, name: str, values: Tensor) -> Tensor:
        if name not in self.table:
            self.table[name] = values.new_zeros(len(self.owned), *values.shape)
        self._changes.setdefault(name, {})[self.part] = values.clone()
        if name not in self._sums:
            return values * (sum(self.owned) / max(self.owned[self.part], 1))
        return self._sums[name] + (values - self.table[name][self.part])

    def end_first_visit(self) -> None:
        self.end_step()

    def end_step(self) -> None:
        """Add up the changes of this step over all processes; every process calls it, even without a part in the step."""
        changes = {name: torch.zeros_like(table[0]) for name, table in self.table.items()}
        for name, parts in self._changes.items():
            for part, values in sorted(parts.items()):
                changes[name] += values - self.table[name][part]
                self.table[name][part] = values
        self._changes = {}
        for name, change in self._over_processes(changes).items():
            self._sums[name] = self._sums[name] + change if name in self._sums else change

    def end_epoch(self) -> None:
        self._sums = self._over_processes({name: table[self.own].sum(0) for name, table in self.table.items()})

    def whole(self) -> dict[str, Tensor]:
        """(P, …) by name, what each part of all processes last summed to; every process calls it."""
        mine: dict[str, Tensor] = {}
        for name, table in self.table.items():
            mine[name] = torch.zeros_like(table)
            mine[name][self.own] = table[self.own]
        return self._over_processes(mine)

    def _over_processes(self, own: dict[str, Tensor]) -> dict[str, Tensor]:
        """Tensors by name, added up over the processes in one message."""
        names = sorted(own)
        if not names:
            return {}
        whole = self.reduction.total(torch.cat([own[name].flatten() for name in names]))
        pieces = torch.split(whole, [own[name].numel() for name in names])
        return {name: piece.view_as(own[name]).clone() for name, piece in zip(names, pieces, strict=True)}


class FetchedEmbeddings(HistoricalEmbeddings):
    """:class:`HistoricalEmbeddings` of a process: of its nodes, and of all neighbours of its parts and their halos.

    While :meth:`recording`, every product with P keeps its right-hand side. The own rows are here; the others are fetched in
    one message a product. Without halos around the parts these are as many rows as the evaluation pass itself exchanges.

    Args:
        operators: of the process, for the evaluation pass.
        adjacency: n×n, of the whole graph.
        owned: the nodes of each of the process's parts.
        hops: of their halos.
    """

    def __init__(self, operators: RankOperators, adjacency: sparse.csr_array, owned: Sequence[np.ndarray], hops: int):
        own, needed = operators.part.owned, np.zeros(adjacency.shape[0], dtype=bool)
        for nodes in owned:
            part = make_part(adjacency, nodes, hops)
            needed[part.nodes] = True
            needed[adjacency[part.nodes].indices] = True
        needed[own] = False
        others = np.flatnonzero(needed)
        self._evaluation_plan = operators.plan
        self._plan = HaloPlan(operators.plan.group, Part(own, others, len(own)), operators.owner)
        super().__init__(np.concatenate([own, others[self._plan.order]]))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Inside, the right-hand sides of one forward pass are kept."""
        number = 0

        def keep(own: Tensor) -> None:
            nonlocal number
            self.keep(number, torch.cat([own, self._plan.fetch(own)()]))
            number += 1

        self._evaluation_plan.seen = keep
        try:
            yield
        finally:
            self._evaluation_plan.seen = None
