"""PartitionTrainer: the same training a part at a time, in memory that depends on the part and not on the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ncgc.errors import ParameterError
from ncgc.losses import embedded_clustering_loss, hard_cross_entropy, soft_cross_entropy, student_t
from ncgc.nn import Output
from ncgc.ops import RowDraws
from ncgc.training import Trainer
from ncgc.training.engines.partition.cache import Shelf
from ncgc.training.engines.partition.historical_embeddings import LastLook
from ncgc.training.engines.partition.inference import exact_output
from ncgc.training.engines.partition.label_blocks import LabelOperators, label_blocks
from ncgc.training.engines.partition.metis import partition
from ncgc.training.engines.partition.ownership import Share
from ncgc.training.engines.partition.part_operators import PartOperators, Source
from ncgc.training.engines.partition.running_totals import Running, Totals

BACKBONES = ("gcn", "gat", "sage", "gcnii", "appnp")
KEPT = 3 * 2**29  # bytes of parts that stay in memory once they are cut
FAR = 2**32  # between the draws of an epoch's steps, so that no two steps have the same


class PartitionTrainer(Trainer):
    """Trains on the parts of a graph in an order drawn anew every epoch, with a halo around each.

    The loss of a part is its nodes' share of the loss of all, so the gradients of an epoch add up to that of the whole graph.
    Gram matrices and cluster frequencies, forward and backward, are running totals (:class:`Totals`), begun by a visit to
    all parts without a step. Neighbours outside a part are what they were at the last look (:class:`LastLook`). The loss on
    labels is taken on blocks of its own, exact, where these are not too large (:func:`label_blocks`): every step has
    all labels. The look after every epoch is exact, so pseudo-labels, Sinkhorn's columns, the prior and stopping see all
    nodes, as ever.

    Args:
        source: the graph.
        parts: how many to cut it into.
        hops: of the halo.
        steps: of descent an epoch; the parts are dealt to them evenly. With 1 the parts' gradients are added up for one
            step, and the schedule is that of full-batch training. Blocks of labels are visited in every one of them.
        seed: of the dropout and of the order of the parts.
        trainer: the arguments of :class:`Trainer` from the objective on.
    """

    def __init__(self, network: Any, source: Source, parts: int, hops: int, steps: int, seed: int, *trainer: Any):
        graph, self.source, self.steps, self.seed = source.graph, source, steps, seed
        if steps > parts:
            raise ParameterError(
                f"{parts} parts cannot be dealt to {steps} steps an epoch; take at most as many steps."
            )
        objective, stopping, settings, *rest = trainer
        super().__init__(
            network, _Nowhere(graph), objective, stopping, settings, RowDraws(seed, torch.arange(0)), *rest
        )
        if settings.pseudo_label_source != "clean" and objective.settings.pl_weight:
            raise ParameterError(
                "pseudo_label_source='training' needs the predictions of all nodes at once: take 'clean', or batch='full'."
            )
        owner = partition(graph.adjacency, parts)
        owned = [np.flatnonzero(owner == part) for part in range(parts)]
        self.nodes, self.owner = graph.num_nodes, torch.from_numpy(owner).long()
        labelled = objective.train_index.numpy() if objective.settings.class_weight > 0 else np.zeros(0, dtype=np.int64)
        self.label_blocks = label_blocks(network, graph.adjacency, labelled, -(-self.nodes // parts))
        # a row counts once in a Gram matrix, in its part: blocks of labels own none
        self.totals = Totals([len(nodes) for nodes in owned] + [0] * len(self.label_blocks))
        # blocks of labels come again in every step, so they have room of their own
        shelf, labels, self.last_look, layers = Shelf(KEPT), Shelf(KEPT // 2), LastLook(), len(network.convs)

        def cut(part: int) -> Callable[[], PartOperators]:
            return lambda: shelf.get(part, lambda: source.part(owned[part], hops, self.last_look))

        def surround(number: int) -> Callable[[], PartOperators]:
            return lambda: labels.get(number, lambda: LabelOperators(source, self.label_blocks[number], layers))

        # made when asked for, and kept where there is room: the parts, and then the blocks of labels
        self.blocks = [cut(part) for part in range(parts)]
        self.blocks += [surround(number) for number in range(len(self.label_blocks))]
        self.parts = parts

    # ---------------------------------------------------------------- training

    def _descend(self, epoch: int) -> dict[str, float] | None:
        targets = self._targets(epoch)
        if not self.last_look:  # the first epoch, here or after a checkpoint
            self._output()
        if not self.totals.table and self.network.beta and not self._prime(epoch, targets):
            return None
        sums: dict[str, float] = {}
        order = np.random.default_rng([self.seed, epoch]).permutation(self.parts)
        for step, group in enumerate(np.array_split(order, self.steps)):
            self.optimizer.zero_grad(set_to_none=True)
            for part in [*range(self.parts, len(self.blocks)), *group.tolist()]:
                numbers = self._part(part, epoch, targets, step)
                if numbers is None:
                    return None
                for name, number in numbers.items():
                    sums[name] = sums.get(name, 0.0) + number
            self.optimizer.step()
            if self.average is not None:
                self.average.update()
        self.totals.end_epoch()
        if len(sums) == 1:  # the total of nothing
            self.objective.total({}, epoch - 1)  # says so
        return sums

    def _prime(self, epoch: int, targets: Tensor | None) -> bool:
        """Visit all parts without a step, so that the first one too has sums over all of them; False if they are not finite."""
        for part in range(len(self.blocks)):
            if self._part(part, epoch, targets) is None:
                return False
        self.totals.end_epoch()
        return True

    def _part(self, part: int, epoch: int, targets: Tensor | None, step: int = 0) -> dict[str, float] | None:
        """Add a part's gradients; its shares of the losses as numbers, or None if one is not finite.

        The share of a block of labels is that of a step: it comes again in the next.
        """
        operators = self.blocks[part]()
        self.totals.part = part
        operators.reduction = Running(self.totals)
        draws = RowDraws(self.seed, operators.rows)
        draws.begin(epoch + step * FAR)
        self.last_look.begin()
        output = self.network(operators, draws, embeddings=False)
        if not self.all_finite(output.logits):
            return None
        if part < self.parts:
            parts = self._losses(operators, output, epoch, targets)
        else:
            parts = {"class": self._label_loss(operators, output) / self.steps}
        # in the warm-up a part may have no label; its rows still have a gradient through the Gram matrix of all
        total = self.objective.total(parts, epoch - 1) if parts else output.logits.sum() * 0.0
        if not self.all_finite(total):
            return None
        (total * self.steps).backward()
        return {name: loss.item() for name, loss in parts.items()} | {"total": total.item()}

    def _losses(
        self, operators: PartOperators, output: Output, epoch: int, targets: Tensor | None
    ) -> dict[str, Tensor]:
        """The part's shares of the losses: sums over its owned nodes, divided by the counts of the whole graph."""
        objective, share = self.objective, Share(operators.part.owned)
        settings, parts = objective.settings, {}
        if settings.class_weight > 0 and not self.label_blocks and len(share.local(objective.train_index.numpy())[0]):
            parts["class"] = self._label_loss(operators, output)
        if objective.ramp(epoch - 1) == 0:
            return parts
        if settings.kl_weight > 0 and self.centroids is not None:
            own = self.network.clustered(output)[: operators.owned]
            frequencies = Running(self.totals, "frequencies")
            parts["kl"] = embedded_clustering_loss(own, self.centroids, reduction=frequencies, count=self.nodes)
        if targets is not None:
            rest, here = share.local(objective.unlabelled_index.numpy())
            chosen = targets[torch.from_numpy(here)]
            parts["pl"] = soft_cross_entropy(output.logits, chosen, torch.from_numpy(rest), len(here))
        return parts

    def _label_loss(self, operators: PartOperators, output: Output) -> Tensor:
        """The cross-entropy of the labels here, summed and divided by the count of all labels."""
        train, mine = Share(operators.part.owned).local(self.objective.train_index.numpy())
        labels = self.objective.train_labels[torch.from_numpy(mine)]
        return hard_cross_entropy(output.logits[torch.from_numpy(train)], labels, len(mine))

    def _targets(self, epoch: int) -> Tensor | None:
        """(u, K) pseudo-labels of all unlabelled nodes from the latest exact look, balanced over all of them."""
        objective = self.objective
        if objective.ramp(epoch - 1) == 0 or not objective.settings.pl_weight or not len(objective.unlabelled_index):
            return None
        if self.clean is None:
            self.clean = self._output().logits
        return objective.targets(self.clean)

    # ---------------------------------------------------------------- looking

    def _output(self) -> Output:
        with self._averaged():
            return exact_output(self.network, self.source, embeddings=False, last_look=self.last_look)

    def _clusters_begun(self, embeddings: Tensor) -> None:
        """The first frequencies of every part are those of the exact look that the centroids come from."""
        assert self.centroids is not None
        assignments = student_t(embeddings, self.centroids.detach())
        by_part = assignments.new_zeros(len(self.blocks), assignments.shape[1]).index_add_(0, self.owner, assignments)
        self.totals.load({"frequencies": by_part.unsqueeze(2)})

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Inside, the network has the averaged weights, if there are any."""
        if self.average is None:
            yield
            return
        own = {name: weight.detach().clone() for name, weight in self.network.named_parameters()}
        self.network.load_state_dict(self.average.state_dict())
        try:
            yield
        finally:
            self.network.load_state_dict(self.network.state_dict() | own)

    # ---------------------------------------------------------------- keeping

    def more_state(self) -> dict[str, Tensor]:
        return dict(self.totals.table)

    def load_more_state(self, state: Mapping[str, Tensor]) -> None:
        self.totals.load(state)


def check_by_parts(parameters: Mapping[str, Any]) -> None:
    """A sentence for what does not train by parts."""
    if parameters["backbone"] not in BACKBONES:
        raise ParameterError(
            f"The backbone {parameters['backbone']!r} does not train by parts yet; take {', '.join(BACKBONES)}, or batch='full'."
        )
    if parameters["norm"] == "batch":
        raise ParameterError("norm='batch' does not train by parts yet; take 'layer' or none, or batch='full'.")


class _Nowhere(PartOperators):
    """In place of operators of the whole graph, which a trainer by parts never makes."""

    def __init__(self, graph: Any):
        self.graph = graph
