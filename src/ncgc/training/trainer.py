"""The training loop: one full-batch step and one dropout-free look an epoch, the best weights kept as a true copy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ncgc.errors import TrainingError
from ncgc.losses import Objective, initial_centroids
from ncgc.nn import SOGN, GraphOperators, Output
from ncgc.ops import Draws, RowDraws, kept_memory
from ncgc.training.adam import Adam
from ncgc.training.averaging import WeightAverage
from ncgc.training.history import History, TrainingResult, Watcher
from ncgc.training.stopping import StoppingRule
from ncgc.training.teacher import PredictionAverage


@dataclass(frozen=True)
class TrainerSettings:
    """How to descend: Adam's step and decay, how long, and how the clustering part begins."""

    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    decay_on: str = "all"
    averaging: float = 0.0
    schedule: str = "constant"
    epochs: int = 400
    pseudo_label_source: str = "clean"
    teacher: float = 0.0
    centroids: str = "kmeans"


class Trainer:
    """Trains a SOGN on an Objective. It is handed training labels inside the objective and never sees any other.

    Args:
        network, operators, objective: what to train, on which graph, for what.
        stopping: looks at each epoch's dropout-free logits; decides what to keep and when to stop.
        settings: see :class:`TrainerSettings`.
        dropout_generator, centroid_seed: the only randomness in training.
        watch: called after each epoch.
        keep: called after each epoch with the trainer and the epoch, to write a checkpoint.

    Where ``objective.reduction`` is not that of a process alone, the operators have some rows of the graph, and every
    decision, sum and gradient is the one of all processes together.
    """

    def __init__(
        self,
        network: SOGN,
        operators: GraphOperators,
        objective: Objective,
        stopping: StoppingRule,
        settings: TrainerSettings,
        dropout_generator: Draws,
        centroid_seed: int = 0,
        watch: Watcher | None = None,
        keep: Callable[[Trainer, int], None] | None = None,
    ):
        self.network, self.operators, self.objective = network, operators, objective
        self.stopping, self.settings = stopping, settings
        self.dropout_generator, self.centroid_seed = dropout_generator, centroid_seed
        self.watch, self.keep = watch, keep
        self.reduction = objective.reduction
        self.done = 0  # epochs, before this run too
        self.spent = 0.0  # seconds, before this run
        self.centroids: nn.Parameter | None = None
        self.history = History()
        self.clean: Tensor | None = None  # what clean targets come from: logits of passes without dropout
        self.teacher = (
            PredictionAverage(settings.teacher) if settings.teacher and objective.settings.pl_weight else None
        )
        self.optimizer = Adam(self._groups(), lr=settings.learning_rate, fused=True)
        self.average = WeightAverage(network, settings.averaging) if settings.averaging else None
        self.best, self.best_epoch = self._copy(), 0

    def run(self) -> TrainingResult:
        """Train to the end, a stop or Ctrl-C, then put the best weights back."""
        start = time.perf_counter() - self.spent
        try:
            with kept_memory():
                termination = self._epochs(start)
        except KeyboardInterrupt:
            termination = "interrupted"
        self._restore()
        centroids = None if self.centroids is None else self.centroids.detach()
        return TrainingResult(self.history, self.best_epoch, termination, time.perf_counter() - start, centroids)

    # ---------------------------------------------------------------- one epoch

    def _epochs(self, start: float) -> str:
        """Epoch after epoch, until the reason to stop that is returned."""
        if self.done and (reason := self.stopping.stop(self.done)) is not None:
            return reason  # a checkpoint was written, and then there was no time to stop
        for epoch in range(self.done + 1, self.settings.epochs + 1):
            self._set_step_size(epoch)
            parts = self._step(epoch)
            looked = None if parts is None else self._look(epoch)
            if parts is None or looked is None:
                return self._not_finite(epoch)
            quantities = parts | looked | {"seconds": time.perf_counter() - start}
            self.history.append(epoch=epoch, **quantities)
            if self.stopping.best_epoch == epoch:
                self.best, self.best_epoch = self._copy(), epoch
            if self.watch is not None:
                self.watch(epoch, quantities)
            self.done, self.spent = epoch, quantities["seconds"]
            if self.keep is not None:
                self.keep(self, epoch)
            reason = self.stopping.stop(epoch)
            if reason is not None:
                return reason
        return "all epochs done"

    def _step(self, epoch: int) -> dict[str, float] | None:
        """One descent step; the parts of the loss as numbers, or None if the loss is not finite (nothing is changed then)."""
        clustering = self.objective.ramp(epoch - 1) > 0 and self.objective.settings.kl_weight > 0
        if clustering and self.centroids is None and not self._begin_clusters():
            return None
        self.network.train()
        numbers = self._descend(epoch)
        if numbers is None:
            return None
        if "pl" in numbers and self.objective.marginal_error is not None:
            numbers["marginal_error"] = self.objective.marginal_error
        return numbers

    def _descend(self, epoch: int) -> dict[str, float] | None:
        """Gradients and Adam's step with them."""
        self.optimizer.zero_grad(set_to_none=True)
        numbers = self._gradients(epoch)
        if numbers is None:
            return None
        self.optimizer.step()
        if self.average is not None:
            self.average.update()
        return numbers

    def _gradients(self, epoch: int) -> dict[str, float] | None:
        """The gradients of all weights, and the parts of the loss as numbers; None if one is not finite."""
        if isinstance(self.dropout_generator, RowDraws):
            self.dropout_generator.begin(epoch)
        output = self.network(self.operators, self.dropout_generator, embeddings=False)
        source = self.clean if self.settings.pseudo_label_source == "clean" else None
        if self.reduction.alone and not self.all_finite(output.logits):
            return None
        parts = self.objective(self.network.clustered(output), output.logits, self.centroids, epoch - 1, source)
        total = self.objective.total(parts, epoch - 1)
        if self.reduction.alone and not self.all_finite(total):
            return None
        total.backward()
        numbers = {name: part.item() for name, part in parts.items()} | {"total": total.item()}
        return numbers if self.reduction.alone else self._summed(numbers)

    def _summed(self, numbers: dict[str, float]) -> dict[str, float] | None:
        """The gradients and the parts of the loss of all processes, added up in one message; None if the loss is not finite."""
        weights = [weight for group in self.optimizer.param_groups for weight in group["params"]]
        gradients = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights]
        losses = torch.tensor(list(numbers.values()), dtype=gradients[0].dtype)
        whole = self.reduction.total(torch.cat([losses, *(gradient.flatten() for gradient in gradients)]))
        sums, *summed = whole.split([len(losses), *(weight.numel() for weight in weights)])
        for weight, gradient in zip(weights, summed, strict=True):
            weight.grad = gradient.view_as(weight)
        return dict(zip(numbers, sums.tolist(), strict=True)) if bool(torch.isfinite(sums).all()) else None

    def all_finite(self, values: Tensor) -> bool:
        """Whether all of them are, in all processes."""
        return self.reduction.count(int(not bool(torch.isfinite(values).all()))) == 0

    @torch.no_grad()
    def _look(self, epoch: int) -> dict[str, float] | None:
        """A pass without dropout: the next pseudo-labels' source, and what stopping judges.

        None if it is not finite: the step was too large, and its weights must not be kept.
        """
        self.network.eval()
        logits: Tensor = self._output().logits
        if not self.all_finite(logits):
            return None
        self.clean = logits if self.teacher is None else self.teacher.update(logits)
        return self.stopping.observe(epoch, logits)

    def _output(self) -> Output:
        """What the network, or its average, says of all nodes without dropout."""
        output: Output = (self.average or self.network)(self.operators, embeddings=False)
        return output

    @torch.no_grad()
    def _begin_clusters(self) -> bool:
        """Put the centroids among the embeddings; False if these are not finite."""
        self.network.eval()
        embeddings = self.network.clustered(self._output())
        if not self.all_finite(embeddings):
            return False
        clusters = self.objective.num_classes
        start = initial_centroids(embeddings, clusters, self.settings.centroids, self.centroid_seed, self.reduction)
        self.set_centroids(self.reduction.agreed(start))
        self._clusters_begun(embeddings)
        return True

    def _clusters_begun(self, embeddings: Tensor) -> None:
        """For trainers that keep something about the clusters."""

    def set_centroids(self, start: Tensor) -> None:
        """Train these (K, d) centroids too, without decay."""
        self.centroids = nn.Parameter(start)
        self.optimizer.add_param_group({"params": [self.centroids], "weight_decay": 0.0})

    # ---------------------------------------------------------------- weights

    def more_state(self) -> dict[str, Tensor]:
        """What else a checkpoint has to hold."""
        return {}

    def load_more_state(self, state: Mapping[str, Tensor]) -> None:
        pass

    def _groups(self) -> list[dict[str, object]]:
        """Adam's groups: what decays and what does not."""
        decay = self.settings.weight_decay
        parameters = dict(self.network.named_parameters())
        if self.settings.decay_on == "all":
            return [{"params": list(parameters.values()), "weight_decay": decay}]
        first = {name for name in parameters if name.startswith(("entry", "convs.0."))}
        return [
            {"params": [parameters[name] for name in parameters if name in first], "weight_decay": decay},
            {"params": [parameters[name] for name in parameters if name not in first], "weight_decay": 0.0},
        ]

    def _set_step_size(self, epoch: int) -> None:
        """Constant, or half a cosine down to nearly 0: over all epochs ("cosine") or over the last third ("late")."""
        if self.settings.schedule == "constant":
            return
        epochs = self.settings.epochs
        start = 2 * epochs // 3 if self.settings.schedule == "late" else 0
        share = 0.5 * (1 + math.cos(math.pi * max(epoch - 1 - start, 0) / (epochs - start)))
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate * share

    def _copy(self) -> dict[str, Tensor]:
        """The weights as they are judged: averaged if they are."""
        weights = self.network.state_dict() if self.average is None else self.average.state_dict()
        state = {name: value.detach().clone() for name, value in weights.items()}
        if self.centroids is not None:
            state["centroids"] = self.centroids.detach().clone()
        return state

    def _restore(self) -> None:
        state = dict(self.best)
        centroids = state.pop("centroids", None)
        self.network.load_state_dict(state)
        self.network.eval()
        if self.centroids is not None:
            # the best epoch may lie in the warm-up, before there were clusters
            self.centroids = None if centroids is None else nn.Parameter(centroids)

    def _not_finite(self, epoch: int) -> str:
        if not self.history.rows:
            raise TrainingError(
                "The loss is not finite in the very first epoch; scale the features (features='row') or lower the learning rate "
                f"{self.settings.learning_rate}."
            )
        return f"the loss was not finite in epoch {epoch}"
