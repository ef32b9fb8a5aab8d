"""RankPartitionTrainer: training by parts in many processes, each with several parts of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ncgc.errors import ParameterError
from ncgc.losses import embedded_clustering_loss, hard_cross_entropy, soft_cross_entropy, student_t
from ncgc.nn import SOGN, Output
from ncgc.ops import RowDraws
from ncgc.training import Trainer
from ncgc.training.engines.distributed.fetched_embeddings import FetchedLook
from ncgc.training.engines.distributed.rank_operators import RankOperators
from ncgc.training.engines.distributed.shared_totals import SharedTotals
from ncgc.training.engines.partition import Share
from ncgc.training.engines.partition.cache import Shelf
from ncgc.training.engines.partition.halo import make_part
from ncgc.training.engines.partition.label_blocks import BACKBONES as LABEL_BACKBONES
from ncgc.training.engines.partition.label_blocks import MOST, WIDER, LabelOperators
from ncgc.training.engines.partition.part_operators import PartOperators, Source
from ncgc.training.engines.partition.running_totals import Running
from ncgc.training.engines.partition.trainer import FAR, KEPT, PartitionTrainer


def dealt(parts: int, processes: int) -> np.ndarray:
    """(parts,) the process that has each part: as many in each, and neighbours by number together, as METIS numbers them.

    >>> dealt(5, 2)
    array([0, 0, 0, 1, 1])
    """
    if parts < processes:
        raise ParameterError(f"{parts} parts cannot be dealt to {processes} processes; take at least a part for each.")
    groups = np.array_split(np.arange(parts), processes)
    return np.repeat(np.arange(processes), [len(group) for group in groups])


class RankPartitionTrainer(PartitionTrainer):
    """What :class:`PartitionTrainer` does, with the parts dealt to many processes: the same for any number of them, but for rounding.

    A step is over the same parts whoever has them, each computed by its owner; their gradients and losses are added up in one
    message. Running totals are those of all processes, brought up to date when a step ends (:class:`SharedTotals`); in
    :class:`PartitionTrainer` the parts of a step follow each other and know the earlier ones already. The labels of a part are
    a block, so that who has which part does not matter; there they are in as few blocks as there is room for.
    The look is exact, with halo exchange over all nodes of the process at once; the rows that the parts of the process need of
    it, and does not have, are fetched as they come about (:class:`FetchedLook`).

    Args:
        network: to train.
        source: the graph, from which the own parts are cut with their halo.
        operators: all nodes of this process, for the look.
        part_of: (n,) the part of each node.
        own: the numbers of this process's parts.
        parts: of all processes.
        hops, steps, seed: as in :class:`PartitionTrainer`.
        trainer: the arguments of :class:`Trainer` from the objective on.
    """

    totals: SharedTotals
    last_look: FetchedLook

    def __init__(
        self,
        network: SOGN,
        source: Source,
        operators: RankOperators,
        part_of: np.ndarray,
        own: Sequence[int],
        parts: int,
        hops: int,
        steps: int,
        seed: int,
        *trainer: Any,
    ):
        self.check(parts, steps, trainer)
        objective, stopping, settings, *rest = trainer
        draws = RowDraws(seed, torch.arange(0))  # every part draws its own
        Trainer.__init__(self, network, operators, objective, stopping, settings, draws, *rest)
        self.source, self.steps, self.seed = source, steps, seed
        self.nodes, self.parts, self.own = source.graph.num_nodes, parts, list(own)
        ids = operators.part.owned  # the objective's nodes are numbered within this process
        self.owner = torch.from_numpy(part_of[ids]).long()
        self.labelled, self.unlabelled = ids[objective.train_index.numpy()], ids[objective.unlabelled_index.numpy()]
        self.counts = [self.reduction.count(len(nodes)) for nodes in (self.labelled, self.unlabelled)]
        owned = {part: np.flatnonzero(part_of == part) for part in self.own}
        adjacency = source.graph.adjacency
        self.last_look = FetchedLook(operators, adjacency, list(owned.values()), hops)
        self.of_labels = self._blocks_of_labels(part_of, -(-self.nodes // parts))
        self.apart = self.reduction.count(len(self.of_labels)) > 0  # labels have blocks, here or elsewhere
        # a row for every part, and one for its labels, which own no node
        rows = np.bincount(part_of, minlength=parts).tolist() + [0] * parts
        self.totals = SharedTotals(rows, [*self.own, *self.of_labels], self.reduction)
        shelf, labels, layers = Shelf(KEPT), Shelf(KEPT // 2), len(network.convs)

        def cut(number: int) -> PartOperators:
            if number >= parts:
                return labels.get(number, lambda: LabelOperators(source, self.of_labels[number], layers))
            return shelf.get(number, lambda: source.part(owned[number], hops, self.last_look))

        self.cut = cut

    def _blocks_of_labels(self, part_of: np.ndarray, room: int) -> dict[int, np.ndarray]:
        """The labelled nodes of every own part by its row in the totals; none, in all processes, where one says so."""
        adjacency, found = self.source.graph.adjacency, {}
        seen, too_large = 0, False
        if self.network.backbone in LABEL_BACKBONES and self.objective.settings.class_weight > 0:
            for part in np.unique(part_of[self.labelled]).tolist():
                nodes = np.sort(self.labelled[part_of[self.labelled] == part])
                size = len(make_part(adjacency, nodes, len(self.network.convs)).nodes)
                seen, too_large = seen + size, too_large or size > WIDER * room
                found[self.parts + part] = nodes
        if self.reduction.count(int(too_large)) or self.reduction.count(seen) > MOST * self.nodes:
            return {}
        return found

    @staticmethod
    def check(parts: int, steps: int, trainer: Sequence[Any]) -> None:
        if steps > parts:
            raise ParameterError(
                f"{parts} parts cannot be dealt to {steps} steps an epoch; take at most as many steps."
            )
        objective, _, settings, *_ = trainer
        if settings.pseudo_label_source != "clean" and objective.settings.pl_weight:
            raise ParameterError(
                "pseudo_label_source='training' needs the predictions of all nodes at once: take 'clean', or batch='full'."
            )

    # ---------------------------------------------------------------- training

    def _descend(self, epoch: int) -> dict[str, float] | None:
        targets = self._targets(epoch)
        names = self._names(epoch, targets)
        if not self.last_look:  # the first epoch, here or after a checkpoint
            self._output()
        if not self.totals.table and self.network.beta:  # all parts are visited once without a step
            for part in [*self.of_labels, *self.own]:
                self._share(part, epoch, targets, 0)
            self.totals.end_step()
        sums = dict.fromkeys(names, 0.0)
        order = np.random.default_rng([self.seed, epoch]).permutation(self.parts)
        for step, group in enumerate(np.array_split(order, self.steps)):
            self.optimizer.zero_grad(set_to_none=True)
            numbers = dict.fromkeys(names, 0.0)
            for part in [*self.of_labels, *(part for part in group.tolist() if part in self.own)]:
                found = self._share(part, epoch, targets, step)
                numbers = {name: number + found.get(name, 0.0) for name, number in numbers.items()}
            self.totals.end_step()
            whole = self._summed(numbers)
            if whole is None:
                return None
            sums = {name: number + whole[name] for name, number in sums.items()}
            self.optimizer.step()
            if self.average is not None:
                self.average.update()
        self.totals.end_epoch()
        return sums

    def _names(self, epoch: int, targets: Tensor | None) -> list[str]:
        """The parts of the loss in this epoch, the same in every process, whichever of them its nodes have."""
        settings, begun = self.objective.settings, self.objective.ramp(epoch - 1) > 0
        there = {
            "class": settings.class_weight > 0 and self.counts[0] > 0,
            "kl": begun and settings.kl_weight > 0 and self.centroids is not None,
            "pl": targets is not None,
        }
        return [name for name, counts in there.items() if counts] + ["total"]

    def _share(self, part: int, epoch: int, targets: Tensor | None, step: int) -> dict[str, float]:
        """Add a part's gradients, or those of its labels; its shares of the losses as numbers, which need not be finite."""
        operators = self.cut(part)
        self.totals.part = part
        operators.reduction = Running(self.totals)
        draws = RowDraws(self.seed, operators.rows)
        draws.begin(epoch + step * FAR)
        self.last_look.begin()
        output = self.network(operators, draws, embeddings=False)
        if part < self.parts:
            parts = self._losses(operators, output, epoch, targets)
        else:
            parts = {"class": self._label_loss(operators, output) / self.steps}
        # a part without a label in the warm-up has a gradient too, of zeros: its sums are asked for in all processes alike
        total = self.objective.total(parts, epoch - 1) if parts else output.logits.sum() * 0.0
        (total * self.steps).backward()
        return {name: loss.item() for name, loss in parts.items()} | {"total": total.item()}

    def _losses(
        self, operators: PartOperators, output: Output, epoch: int, targets: Tensor | None
    ) -> dict[str, Tensor]:
        share, settings = Share(operators.part.owned), self.objective.settings
        parts: dict[str, Tensor] = {}
        if settings.class_weight > 0 and not self.apart and len(share.local(self.labelled)[0]):
            parts["class"] = self._label_loss(operators, output)
        if self.objective.ramp(epoch - 1) == 0:
            return parts
        if settings.kl_weight > 0 and self.centroids is not None:
            own = self.network.clustered(output)[: operators.owned]
            frequencies = Running(self.totals, "frequencies")
            parts["kl"] = embedded_clustering_loss(own, self.centroids, reduction=frequencies, count=self.nodes)
        if targets is not None:
            rest, here = share.local(self.unlabelled)
            chosen = targets[torch.from_numpy(here)]
            parts["pl"] = soft_cross_entropy(output.logits, chosen, torch.from_numpy(rest), self.counts[1])
        return parts

    def _label_loss(self, operators: PartOperators, output: Output) -> Tensor:
        train, mine = Share(operators.part.owned).local(self.labelled)
        labels = self.objective.train_labels[torch.from_numpy(mine)]
        return hard_cross_entropy(output.logits[torch.from_numpy(train)], labels, self.counts[0])

    def _targets(self, epoch: int) -> Tensor | None:
        """(u, K) pseudo-labels of this process's unlabelled nodes, balanced over those of all processes."""
        if self.objective.ramp(epoch - 1) == 0 or not self.objective.settings.pl_weight or not self.counts[1]:
            return None
        if self.clean is None:
            self.clean = self._output().logits
        return self.objective.targets(self.clean)

    # ---------------------------------------------------------------- looking

    @torch.no_grad()
    def _output(self) -> Output:
        training = self.network.training
        self.network.eval()
        with self.last_look.watching():
            output = Trainer._output(self)
        self.network.train(training)
        return output

    def _clusters_begun(self, embeddings: Tensor) -> None:
        assert self.centroids is not None
        assignments = student_t(embeddings, self.centroids.detach())
        own = assignments.new_zeros(2 * self.parts, assignments.shape[1]).index_add_(0, self.owner, assignments)
        self.totals.load({"frequencies": self.reduction.total(own).unsqueeze(2)})

    # ---------------------------------------------------------------- keeping

    def more_state(self) -> dict[str, Tensor]:
        return self.totals.whole()

    def load_more_state(self, state: Mapping[str, Tensor]) -> None:
        self.totals.load(state)
