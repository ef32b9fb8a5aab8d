"""Partition: an epoch goes part after part, in memory that depends on the part and not on the graph.

The loss of a part is its nodes' contribution to the loss of all, so the gradients of an epoch add up to that of the whole graph.
Gram matrices and cluster frequencies, forward and backward, are running totals (:class:`Totals`), begun by a visit to all parts
without a step. Neighbours outside a part are what they were in the last evaluation pass (:class:`HistoricalEmbeddings`). The loss
on labels is taken on blocks of its own, exact, where these are not too large: every step then has all labels. The evaluation pass
after every epoch is exact, so pseudo-labels, Sinkhorn's columns, the prior and the stopping rule see all nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from ncgc.errors import ParameterError
from ncgc.losses import embedded_clustering_loss, hard_cross_entropy, soft_cross_entropy, student_t
from ncgc.nn import SOGN, Output
from ncgc.ops import RowGenerator
from ncgc.training.engines.partition.halo import Ownership
from ncgc.training.engines.partition.historical_embeddings import HistoricalEmbeddings
from ncgc.training.engines.partition.inference import evaluate_by_rows
from ncgc.training.engines.partition.label_blocks import LabelOperators, label_blocks
from ncgc.training.engines.partition.metis import partition
from ncgc.training.engines.partition.part_operators import Cache, PartOperators, PartSource
from ncgc.training.engines.partition.running_totals import RunningSum, Totals
from ncgc.training.learner import Learner, State, all_finite, prefixed, under

CACHED = 3 * 2**29  # bytes of parts that stay in memory once they are cut
FAR = 2**32  # between the draws of an epoch's steps, so that no two steps have the same


class Layout(Protocol):
    """Where the parts are: all in one process, or some in each of several.

    Attributes:
        parts: how many parts there are, in all processes.
        own: the numbers of this process's parts.
        label_blocks: the numbers of its blocks of labels; they follow those of the parts.
        separate_labels: whether labels have blocks of their own, here or in another process.
        nodes: of the whole graph.
        part_of: (m,) the part of each node that this process evaluates.
        labelled: the nodes of this process with a training label, by their number in the graph.
        unlabelled: those without.
        counts: how many labelled and unlabelled nodes there are in all processes.
        totals: sums over all nodes.
        history: embeddings of the last evaluation pass.
    """

    parts: int
    own: list[int]
    label_blocks: list[int]
    separate_labels: bool
    nodes: int
    part_of: Tensor
    labelled: np.ndarray
    unlabelled: np.ndarray
    counts: tuple[int, int]
    totals: Totals
    history: HistoricalEmbeddings

    def operators(self, number: int) -> PartOperators:
        """The operators of a part with its halo, or of a block of labels with its receptive field.

        Args:
            number: of the part or block.

        Returns:
            The operators, cached where memory allows.
        """

    def evaluate(self, network: SOGN) -> Output:
        """The evaluation pass over this process's nodes; ``history`` keeps the right-hand side of every product.

        Args:
            network: in evaluation mode.

        Returns:
            (m, d) embeddings, not propagated in a decoupled network, and (m, K) logits.
        """


class Partition:
    """Trains on the parts of a graph in an order drawn anew every epoch, with a halo around each.

    An :class:`ncgc.training.trainer.Engine`; its parts are in one process or in several, see :class:`Layout`.

    Args:
        learner: the weights in training, with NCGC's self-supervision.
        layout: the parts.
        steps: of descent an epoch; the parts are divided among them evenly. With 1 the parts' gradients are added up for one
            step, and the schedule is that of full-batch training. Blocks of labels are visited in every step.
        seed: of the dropout and of the order of the parts.
    """

    def __init__(self, learner: Learner, layout: Layout, steps: int, seed: int):
        assert learner.supervision is not None
        assert isinstance(learner.network, SOGN)
        self.learner, self.layout, self.steps, self.seed = learner, layout, steps, seed
        self.network, self.supervision = learner.network, learner.supervision
        self.objective, self.reduction = learner.supervision.objective, learner.reduction
        if steps > layout.parts:
            raise ParameterError(
                f"{layout.parts} parts cannot be divided among {steps} steps an epoch; take at most as many steps."
            )
        if self.supervision.source != "clean" and self.objective.settings.pl_weight:
            raise ParameterError(
                "pseudo_label_source='training' needs the predictions of all nodes at once: take 'clean', or batch='full'."
            )

    # ---------------------------------------------------------------- an epoch

    def step(self, epoch: int) -> dict[str, float] | None:
        layout, totals = self.layout, self.layout.totals
        if self.supervision.needs_centroids(epoch) and not self._begin_clusters():
            return None
        self.network.train()
        targets = self._targets(epoch)
        names = self._names(epoch, targets)
        if not layout.history:  # the first epoch, here or after a checkpoint
            self._evaluate()
        if not totals.table and self.network.beta:
            for number in [*layout.own, *layout.label_blocks]:
                self._visit(number, epoch, targets, 0)
            totals.end_first_visit()
        sums = dict.fromkeys(names, 0.0)
        order = np.random.default_rng([self.seed, epoch]).permutation(layout.parts)
        for step, group in enumerate(np.array_split(order, self.steps)):
            self.learner.optimizer.zero_grad(set_to_none=True)
            losses = dict.fromkeys(names, 0.0)
            for number in [*layout.label_blocks, *(part for part in group.tolist() if part in layout.own)]:
                found = self._visit(number, epoch, targets, step)
                losses = {name: loss + found.get(name, 0.0) for name, loss in losses.items()}
            totals.end_step()
            whole = self.learner.summed(losses)
            if whole is None:
                return None
            sums = {name: loss + whole[name] for name, loss in sums.items()}
            self.learner.update()
        totals.end_epoch()
        error = self.objective.marginal_error
        return sums | ({"marginal_error": error} if "pl" in sums and error is not None else {})

    def _names(self, epoch: int, targets: Tensor | None) -> list[str]:
        """The losses of this epoch by name, the same in every process, whether or not its own nodes have them."""
        settings, begun = self.objective.settings, self.objective.ramp(epoch - 1) > 0
        there = {
            "class": settings.label_loss_weight > 0 and self.layout.counts[0] > 0,
            "kl": begun and settings.kl_weight > 0 and self.supervision.centroids is not None,
            "pl": targets is not None,
        }
        names = [name for name, counts in there.items() if counts]
        if not names:
            self.objective.total({}, epoch - 1)  # raises: there is nothing to train on
        return [*names, "total"]

    def _visit(self, number: int, epoch: int, targets: Tensor | None, step: int) -> dict[str, float]:
        """Add the gradients of a part or of a block of labels; its contributions to the losses, which need not be finite.

        The contribution of a block of labels is that of a step: it comes again in the next.
        """
        operators = self.layout.operators(number)
        self.layout.totals.part = number
        operators.reduction = RunningSum(self.layout.totals)
        draws = RowGenerator(self.seed, operators.rows)
        draws.begin(epoch + step * FAR)
        self.layout.history.begin()
        output = self.network(operators, draws, embeddings=False)
        if number < self.layout.parts:
            parts = self._losses(operators, output, epoch, targets)
        else:
            parts = {"class": self._label_loss(operators, output) / self.steps}
        # in the warm-up a part may have no label; its rows still have a gradient through the Gram matrix of all
        total = self.objective.total(parts, epoch - 1) if parts else output.logits.sum() * 0.0
        (total * self.steps).backward()
        return {name: loss.item() for name, loss in parts.items()} | {"total": total.item()}

    def _losses(
        self, operators: PartOperators, output: Output, epoch: int, targets: Tensor | None
    ) -> dict[str, Tensor]:
        """A part's contributions to the losses: sums over its owned nodes, divided by the counts of the whole graph."""
        layout, settings = self.layout, self.objective.settings
        owned, parts = Ownership(operators.part.owned), dict[str, Tensor]()
        if settings.label_loss_weight > 0 and not layout.separate_labels and len(owned.local(layout.labelled)[0]):
            parts["class"] = self._label_loss(operators, output)
        if self.objective.ramp(epoch - 1) == 0:
            return parts
        if settings.kl_weight > 0 and self.supervision.centroids is not None:
            own = self.network.clustered(output)[: operators.owned]
            frequencies = RunningSum(layout.totals, "frequencies")
            centroids = self.supervision.centroids
            parts["kl"] = embedded_clustering_loss(own, centroids, reduction=frequencies, count=layout.nodes)
        if targets is not None:
            rest, here = owned.local(layout.unlabelled)
            chosen = targets[torch.from_numpy(here)]
            parts["pl"] = soft_cross_entropy(output.logits, chosen, torch.from_numpy(rest), layout.counts[1])
        return parts

    def _label_loss(self, operators: PartOperators, output: Output) -> Tensor:
        """The cross-entropy of the labels here, summed and divided by the count of all labels."""
        train, mine = Ownership(operators.part.owned).local(self.layout.labelled)
        labels = self.objective.train_labels[torch.from_numpy(mine)]
        return hard_cross_entropy(output.logits[torch.from_numpy(train)], labels, self.layout.counts[0])

    def _targets(self, epoch: int) -> Tensor | None:
        """(u, K) pseudo-labels of this process's unlabelled nodes, balanced over those of all processes."""
        if self.objective.ramp(epoch - 1) == 0 or not self.objective.settings.pl_weight or not self.layout.counts[1]:
            return None
        if self.supervision.clean is None:
            self.supervision.clean = self._evaluate().logits
        return self.objective.targets(self.supervision.clean)

    # ---------------------------------------------------------------- evaluation

    def evaluate(self) -> Tensor | None:
        logits = self._evaluate().logits
        if not all_finite(logits, self.reduction):
            return None
        self.supervision.observe(logits)
        return logits

    def _evaluate(self) -> Output:
        with self.learner.evaluation():
            return self.layout.evaluate(self.network)

    def _begin_clusters(self) -> bool:
        """Centroids among the embeddings; the first frequencies of every part are those of the same evaluation pass."""
        output = self._evaluate()
        if not self.learner.begin_clusters(lambda: output):
            return False
        assert self.supervision.centroids is not None
        layout = self.layout
        assignments = student_t(self.network.clustered(output), self.supervision.centroids.detach())
        by_part = assignments.new_zeros(len(layout.totals.owned), assignments.shape[1])
        by_part.index_add_(0, layout.part_of, assignments)
        layout.totals.load({"frequencies": self.reduction.total(by_part).unsqueeze(2)})
        return True

    # ---------------------------------------------------------------- checkpoints

    def state(self) -> State:
        state = self.learner.state()
        state.tensors |= prefixed("totals", self.layout.totals.whole())
        return state

    def load_state(self, state: State) -> None:
        self.layout.totals.load(under(state.tensors, "totals"))
        self.learner.load_state(state)


class LocalLayout:
    """All parts in one process, cut when they are needed and cached while there is room; see :class:`Layout`.

    Args:
        source: the graph.
        learner: whose objective knows the labelled nodes.
        parts: how many to cut the graph into.
        hops: of the halo.
    """

    def __init__(self, source: PartSource, learner: Learner, parts: int, hops: int):
        assert learner.supervision is not None
        assert isinstance(learner.network, SOGN)
        graph, objective, network = source.graph, learner.supervision.objective, learner.network
        self.source, self.hops, self.parts, self.own = source, hops, parts, list(range(parts))
        part_of = partition(graph.adjacency, parts)
        self.nodes, self.part_of = graph.num_nodes, torch.from_numpy(part_of).long()
        self.labelled, self.unlabelled = objective.train_index.numpy(), objective.unlabelled_index.numpy()
        self.counts = len(self.labelled), len(self.unlabelled)
        self._owned = [np.flatnonzero(part_of == part) for part in range(parts)]
        counted = self.labelled if objective.settings.label_loss_weight > 0 else np.zeros(0, dtype=np.int64)
        self._blocks = label_blocks(network, graph.adjacency, counted, -(-self.nodes // parts))
        self.label_blocks = [parts + number for number in range(len(self._blocks))]
        self.separate_labels, self._layers = bool(self._blocks), len(network.convs)
        # a row counts once in a Gram matrix, in its part: blocks of labels own none
        self.totals = Totals([len(nodes) for nodes in self._owned] + [0] * len(self._blocks))
        self.history = HistoricalEmbeddings()
        # blocks of labels come again in every step, so they have room of their own
        self._cached, self._cached_labels = Cache(CACHED), Cache(CACHED // 2)

    def operators(self, number: int) -> PartOperators:
        if number < self.parts:
            return self._cached.get(number, lambda: self.source.part(self._owned[number], self.hops, self.history))
        block = self._blocks[number - self.parts]
        return self._cached_labels.get(number, lambda: LabelOperators(self.source, block, self._layers))

    def evaluate(self, network: SOGN) -> Output:
        return evaluate_by_rows(network, self.source, embeddings=False, history=self.history)


def check_trains(parameters: Mapping[str, Any], how: str, backbones: Sequence[str], remedy: str = "") -> None:
    """Check that NCGC trains in some other way than in full batch in one process.

    Args:
        parameters: those of NCGC, all of them, by name.
        how: the way, in words, such as "by parts".
        backbones: those that train in this way.
        remedy: what else would help, for the message.

    Raises:
        ParameterError: for a backbone or norm that does not.
    """
    if parameters["backbone"] not in backbones:
        raise ParameterError(
            f"The backbone {parameters['backbone']!r} does not train {how} yet; take {', '.join(backbones)}{remedy}."
        )
    if parameters["norm"] == "batch":
        raise ParameterError(f"norm='batch' does not train {how} yet; take 'layer' or none{remedy}.")
