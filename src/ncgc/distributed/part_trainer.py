"""RankPartitionTrainer: training by parts in many processes, each with several parts of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ncgc.distributed.operators import RankOperators
from ncgc.distributed.shared_totals import SharedTotals
from ncgc.errors import ParameterError
from ncgc.losses import embedded_clustering_loss, hard_cross_entropy, soft_cross_entropy, student_t
from ncgc.nn import SOGN, Output
from ncgc.ops import RowDraws
from ncgc.partition import Share
from ncgc.partition.operators import PartOperators, Source
from ncgc.partition.running import Running
from ncgc.partition.shelf import Shelf
from ncgc.partition.trainer import KEPT, PartitionTrainer
from ncgc.training import Trainer


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
    :class:`PartitionTrainer` the parts of a step follow each other and know the earlier ones already. Neighbours outside a part
    and its halo are left out here, its rows scaled up; there they are what they were at the last look.
    The look is exact, with halo exchange over all nodes of the process at once.

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
        objective, selection, settings, *rest = trainer
        draws = RowDraws(seed, torch.arange(0))  # every part draws its own
        Trainer.__init__(self, network, operators, objective, selection, settings, draws, *rest)
        self.source, self.steps, self.seed = source, steps, seed
        self.nodes, self.parts, self.own = source.graph.num_nodes, parts, list(own)
        self.totals = SharedTotals(np.bincount(part_of, minlength=parts).tolist(), self.own, self.reduction)
        owned = {part: np.flatnonzero(part_of == part) for part in self.own}
        shelf = Shelf(KEPT)
        self.cut = lambda part: shelf.get(part, lambda: source.part(owned[part], hops))
        ids = operators.part.owned  # the objective's nodes are numbered within this process
        self.owner = torch.from_numpy(part_of[ids]).long()
        self.labelled, self.unlabelled = ids[objective.train_index.numpy()], ids[objective.unlabelled_index.numpy()]
        self.counts = [self.reduction.count(len(nodes)) for nodes in (self.labelled, self.unlabelled)]

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
        if not self.totals.table and self.network.beta:  # all parts are visited once without a step
            for part in self.own:
                self._share(part, epoch, targets)
            self.totals.end_step()
        sums = dict.fromkeys(names, 0.0)
        order = np.random.default_rng([self.seed, epoch]).permutation(self.parts)
        for group in np.array_split(order, self.steps):
            self.optimizer.zero_grad(set_to_none=True)
            numbers = dict.fromkeys(names, 0.0)
            for part in group.tolist():
                if part in self.own:
                    found = self._share(part, epoch, targets)
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

    def _share(self, part: int, epoch: int, targets: Tensor | None) -> dict[str, float]:
        """Add a part's gradients; its shares of the losses as numbers, which need not be finite."""
        operators: PartOperators = self.cut(part)
        self.totals.part = part
        operators.reduction = Running(self.totals)
        draws = RowDraws(self.seed, operators.rows)
        draws.begin(epoch)
        output = self.network(operators, draws, embeddings=False)
        parts = self._losses(operators, output, epoch, targets)
        # a part without a label in the warm-up has a gradient too, of zeros: its sums are asked for in all processes alike
        total = self.objective.total(parts, epoch - 1) if parts else output.logits.sum() * 0.0
        (total * self.steps).backward()
        return {name: loss.item() for name, loss in parts.items()} | {"total": total.item()}

    def _losses(
        self, operators: PartOperators, output: Output, epoch: int, targets: Tensor | None
    ) -> dict[str, Tensor]:
        share, settings = Share(operators.part.owned), self.objective.settings
        parts: dict[str, Tensor] = {}
        train, mine = share.local(self.labelled)
        if settings.class_weight > 0 and len(train):
            labels = self.objective.train_labels[torch.from_numpy(mine)]
            parts["class"] = hard_cross_entropy(output.logits[torch.from_numpy(train)], labels, self.counts[0])
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
        output = Trainer._output(self)
        self.network.train(training)
        return output

    def _clusters_begun(self, embeddings: Tensor) -> None:
        assert self.centroids is not None
        assignments = student_t(embeddings, self.centroids.detach())
        own = assignments.new_zeros(self.parts, assignments.shape[1]).index_add_(0, self.owner, assignments)
        self.totals.load({"frequencies": self.reduction.total(own).unsqueeze(2)})

    # ---------------------------------------------------------------- keeping

    def more_state(self) -> dict[str, Tensor]:
        return self.totals.whole()

    def load_more_state(self, state: Mapping[str, Tensor]) -> None:
        self.totals.load(state)
