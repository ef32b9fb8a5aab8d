"""FullBatch: an epoch is one step over the whole graph, or over the rows of it that this process has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ncgc.graph import Graph
from ncgc.graph.features import FeatureNormalizer
from ncgc.nn import SOGN, GraphOperators, Output
from ncgc.ops import RandomSource, RowGenerator
from ncgc.training.history import TrainingResult, Watcher
from ncgc.training.learner import Learner, State, all_finite
from ncgc.training.stopping import StoppingRule
from ncgc.training.trainer import Trainer


@dataclass(frozen=True)
class Loss:
    """The loss of an epoch.

    Attributes:
        parts: its parts by name, unweighted.
        total: what to descend on.
        numbers: other quantities for the history.
    """

    parts: dict[str, Tensor]
    total: Tensor
    numbers: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Tensor | dict[str, Tensor]) -> Loss:
        """Convert what a loss function returned.

        Args:
            found: a scalar, or named parts to be summed.

        Returns:
            The loss.
        """
        if isinstance(found, dict):
            return cls(found, torch.stack(list(found.values())).sum())
        return cls({}, found)


class FullBatch:
    """One step over all nodes an epoch; an :class:`ncgc.training.trainer.Engine`.

    Args:
        learner: the weights in training.
        loss: of an epoch counted from 1, in training mode; None if it is not finite.
        evaluate: (n, K) logits; called in evaluation mode without gradients.
        observe: called with the logits of every evaluation pass.
        generator: of the dropout, whose state a checkpoint keeps.
    """

    def __init__(
        self,
        learner: Learner,
        loss: Callable[[int], Loss | None],
        evaluate: Callable[[], Tensor],
        observe: Callable[[Tensor], None] | None = None,
        generator: RandomSource | None = None,
    ):
        self.learner, self.loss, self.evaluation_pass = learner, loss, evaluate
        self.observe, self.generator = observe, generator

    def step(self, epoch: int) -> dict[str, float] | None:
        learner = self.learner
        learner.network.train()
        learner.optimizer.zero_grad(set_to_none=True)
        found = self.loss(epoch)
        if found is None or (learner.reduction.alone and not bool(torch.isfinite(found.total))):
            return None
        found.total.backward()
        losses = {name: part.item() for name, part in found.parts.items()} | {"total": found.total.item()}
        whole = losses if learner.reduction.alone else learner.summed(losses)
        if whole is None:
            return None
        learner.update()
        return whole | found.numbers

    def evaluate(self) -> Tensor | None:
        with self.learner.evaluation():
            logits = self.evaluation_pass()
        if not all_finite(logits, self.learner.reduction):
            return None
        if self.observe is not None:
            self.observe(logits)
        return logits

    def state(self) -> State:
        state = self.learner.state()
        if isinstance(self.generator, torch.Generator):
            state.tensors["generator"] = self.generator.get_state()
        return state

    def load_state(self, state: State) -> None:
        self.learner.load_state(state)
        if isinstance(self.generator, torch.Generator):
            self.generator.set_state(state.tensors["generator"])


def ncgc_full_batch(learner: Learner, operators: GraphOperators, draws: RandomSource) -> FullBatch:
    """NCGC's epoch: cross-entropy, embedded clustering and pseudo-labels over all nodes at once.

    Args:
        learner: with a :class:`SOGN` and its self-supervision.
        operators: the graph, or the rows of it that this process has.
        draws: where dropout comes from.

    Returns:
        The engine.
    """
    network, supervision = learner.network, learner.supervision
    assert isinstance(network, SOGN)
    assert supervision is not None
    objective, reduction = supervision.objective, learner.reduction

    def evaluate() -> Output:
        output: Output = network(operators, embeddings=False)
        return output

    def loss(epoch: int) -> Loss | None:
        if supervision.needs_centroids(epoch):
            with learner.evaluation():
                begun = learner.begin_clusters(evaluate)
            if not begun:
                return None
        if isinstance(draws, RowGenerator):
            draws.begin(epoch)
        output = network(operators, draws, embeddings=False)
        if reduction.alone and not all_finite(output.logits):
            return None
        embeddings, source = network.clustered(output), supervision.target_logits
        parts = objective(embeddings, output.logits, supervision.centroids, epoch - 1, source)
        numbers = {} if "pl" not in parts else {"marginal_error": objective.marginal_error}
        known = {name: value for name, value in numbers.items() if value is not None}
        return Loss(parts, objective.total(parts, epoch - 1), known)

    return FullBatch(learner, loss, lambda: evaluate().logits, supervision.observe, draws)


def train_full_batch(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Callable[[int], Tensor | dict[str, Tensor]],
    evaluate: Callable[[], Tensor],
    stopping: StoppingRule,
    epochs: int,
    watch: Watcher | None = None,
) -> TrainingResult:
    """Train a network on a loss over the whole graph.

    Args:
        network: to train; the best weights are in it afterwards.
        optimizer: with its weights.
        loss: of an epoch counted from 1, in training mode: one number, or named parts that are summed.
        evaluate: (n, K) logits of all nodes, or of those that ``stopping`` evaluates; in evaluation mode, without gradients.
        stopping: decides what to keep and when to stop.
        epochs: the most epochs.
        watch: called after each epoch.

    Returns:
        How it went. Ctrl-C ends it as "interrupted", with the best weights so far.
    """
    learner = Learner(network, optimizer, averaging=stopping.averaging)
    engine = FullBatch(learner, lambda epoch: Loss.of(loss(epoch)), evaluate)
    return Trainer(engine, stopping, epochs, watch).run()


@torch.no_grad()
def evaluate_graph(network: SOGN, graph: Graph, normalizer: FeatureNormalizer) -> Output:
    """The evaluation pass of a trained network over any graph, all nodes at once.

    Args:
        network: trained.
        graph: with features that are not normalised yet.
        normalizer: of the fitted graph.

    Returns:
        (n, d) embeddings and (n, K) logits.
    """
    output: Output = network.eval()(GraphOperators(normalizer.apply(graph)))
    return output
