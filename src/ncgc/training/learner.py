"""Learner: weights in training, the same for every engine; and SelfSupervision, what NCGC's losses remember between epochs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ncgc.losses import Objective, initial_centroids
from ncgc.nn import SOGN, Output
from ncgc.ops import ALONE, Reduction
from ncgc.training.averaging import PredictionAverage, WeightAverage
from ncgc.training.optimizer import step_size


@dataclass
class State:
    """What has to be known to go on after an interruption.

    Attributes:
        tensors: what is the same in every process: weights, Adam's moments, centroids, averages.
        rows: what is known of every node, (m, …) for the m nodes of this process.
        values: numbers and lists, as JSON takes them.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict)
    rows: dict[str, Tensor] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


class SelfSupervision:
    """What the losses of NCGC remember between epochs: centroids, and the predictions that pseudo-labels are made of.

    Args:
        objective: the three losses.
        teacher: memory of the averaged predictions that pseudo-labels come from; 0: the latest predictions.
        source: "clean": pseudo-labels come from evaluation passes; "training": from the training pass itself.
        centroids: how centroids begin, "kmeans" or "random".
        seed: of the centroids.
    """

    def __init__(self, objective: Objective, *, teacher: float, source: str, centroids: str, seed: int):
        self.objective, self.source = objective, source
        self.start, self.seed = centroids, seed
        self.centroids: nn.Parameter | None = None
        self.clean: Tensor | None = None  # (n, K) logits of evaluation passes that pseudo-labels come from
        self.teacher = PredictionAverage(teacher) if teacher and objective.settings.pl_weight else None

    @property
    def target_logits(self) -> Tensor | None:
        """(n, K) the logits that pseudo-labels come from; None: those of the training pass."""
        return self.clean if self.source == "clean" else None

    def needs_centroids(self, epoch: int) -> bool:
        """Whether the clustering loss begins in an epoch.

        Args:
            epoch: counted from 1.

        Returns:
            False once there are centroids.
        """
        begins = self.objective.ramp(epoch - 1) > 0 and self.objective.settings.kl_weight > 0
        return begins and self.centroids is None

    def first_centroids(self, embeddings: Tensor) -> Tensor | None:
        """Place the first centroids among the embeddings, equal in every process.

        Args:
            embeddings: (m, d) of this process's nodes.

        Returns:
            (K, d) centroids; None if the embeddings are not finite.
        """
        reduction = self.objective.reduction
        if not all_finite(embeddings, reduction):
            return None
        found = initial_centroids(embeddings, self.objective.num_classes, self.start, self.seed, reduction)
        return reduction.agreed(found)

    def observe(self, logits: Tensor) -> None:
        """Take in an evaluation pass, from which the next pseudo-labels come.

        Args:
            logits: (m, K) of this process's nodes.
        """
        self.clean = logits if self.teacher is None else self.teacher.update(logits)

    def state(self) -> State:
        """Everything it remembers."""
        state = State(prefixed("objective", self.objective.state_dict()))
        if self.centroids is not None:
            state.tensors["centroids"] = self.centroids.detach()
        if self.teacher is not None and self.teacher.epochs:
            state.rows["teacher"], state.values["teacher_epochs"] = self.teacher.mean, self.teacher.epochs
        elif self.clean is not None:
            state.rows["clean"] = self.clean
        return state

    def load_state(self, state: State) -> None:
        """Restore all but the centroids, which :meth:`Learner.load_state` makes trainable.

        Args:
            state: of a checkpoint.
        """
        self.objective.load_state_dict(under(state.tensors, "objective"))
        if self.teacher is not None and "teacher" in state.rows:
            self.teacher.mean, self.teacher.epochs = state.rows["teacher"], state.values["teacher_epochs"]
            self.clean = self.teacher.log_mean()
        else:
            self.clean = state.rows.get("clean")


class Learner:
    """A network with its optimizer, the average of its weights if there is one, and self-supervision if there is any.

    Args:
        network: to train.
        optimizer: with all of the network's weights.
        averaging: memory of the averaged weights that are evaluated and kept; 0: the latest weights.
        schedule: the size of steps over the epochs, see :func:`ncgc.training.optimizer.step_size`.
        epochs: how many there are, for the schedule.
        supervision: of NCGC.
        reduction: how sums over the nodes of this process become sums over all nodes.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        averaging: float = 0.0,
        schedule: str = "constant",
        epochs: int = 1,
        supervision: SelfSupervision | None = None,
        reduction: Reduction = ALONE,
    ):
        self.network, self.optimizer, self.supervision = network, optimizer, supervision
        self.average = WeightAverage(network, averaging) if averaging else None
        self.schedule, self.epochs, self.reduction = schedule, epochs, reduction
        self.learning_rate = optimizer.param_groups[0]["lr"]

    # ---------------------------------------------------------------- steps

    def set_step_size(self, epoch: int) -> None:
        """Set the learning rate by the schedule.

        Args:
            epoch: counted from 1.
        """
        if self.schedule != "constant":
            factor = step_size(self.schedule, epoch, self.epochs)
            for group in self.optimizer.param_groups:
                group["lr"] = self.learning_rate * factor

    def update(self) -> None:
        """One step of the optimizer with the gradients that are there."""
        self.optimizer.step()
        if self.average is not None:
            self.average.update()

    def summed(self, losses: dict[str, float]) -> dict[str, float] | None:
        """Add up gradients and losses over the processes, in one message.

        Args:
            losses: of this process, by name; the same names in every process.

        Returns:
            The losses of all; None if one is not finite.
        """
        if self.reduction.alone:
            return losses if all(math.isfinite(loss) for loss in losses.values()) else None
        weights = [weight for group in self.optimizer.param_groups for weight in group["params"]]
        gradients = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights]
        numbers = torch.tensor(list(losses.values()), dtype=gradients[0].dtype)
        whole = self.reduction.total(torch.cat([numbers, *(gradient.flatten() for gradient in gradients)]))
        sums, *found = whole.split([len(numbers), *(weight.numel() for weight in weights)])
        for weight, gradient in zip(weights, found, strict=True):
            weight.grad = gradient.view_as(weight)
        return dict(zip(losses, sums.tolist(), strict=True)) if bool(torch.isfinite(sums).all()) else None

    # ---------------------------------------------------------------- evaluation

    @contextmanager
    def evaluation(self) -> Iterator[None]:
        """Inside, the network is in evaluation mode, with the averaged weights if there are any, and records no gradients."""
        training = self.network.training
        self.network.eval()
        try:
            with torch.no_grad():
                if self.average is None:
                    yield
                else:
                    with self.average.in_network():
                        yield
        finally:
            self.network.train(training)

    def begin_clusters(self, evaluate: Callable[[], Output]) -> bool:
        """Put the centroids among the embeddings and train them too.

        Args:
            evaluate: an evaluation pass.

        Returns:
            False if the embeddings are not finite.
        """
        assert self.supervision is not None
        assert isinstance(self.network, SOGN)
        found = self.supervision.first_centroids(self.network.clustered(evaluate()))
        if found is not None:
            self.train_centroids(found)
        return found is not None

    def train_centroids(self, start: Tensor) -> None:
        """Train centroids too, without weight decay.

        Args:
            start: (K, d) first centroids.
        """
        assert self.supervision is not None
        self.supervision.centroids = nn.Parameter(start)
        self.optimizer.add_param_group({"params": [self.supervision.centroids], "weight_decay": 0.0})

    # ---------------------------------------------------------------- weights

    def weights(self) -> dict[str, Tensor]:
        """A copy of the weights as they are evaluated, averaged if they are, with the centroids."""
        found = self.network.state_dict() if self.average is None else self.average.state_dict()
        weights = {name: value.detach().clone() for name, value in found.items()}
        if self.supervision is not None and self.supervision.centroids is not None:
            weights["centroids"] = self.supervision.centroids.detach().clone()
        return weights

    def restore(self, weights: Mapping[str, Tensor]) -> None:
        """Load weights and put the network into evaluation mode.

        Args:
            weights: of :meth:`weights`.
        """
        state = dict(weights)
        centroids = state.pop("centroids", None) if self.supervision is not None else None
        self.network.load_state_dict(state)
        self.network.eval()
        if self.supervision is not None and self.supervision.centroids is not None:
            # the weights may be from the warm-up, before there were clusters
            self.supervision.centroids = None if centroids is None else nn.Parameter(centroids)

    def state(self) -> State:
        """Everything that training has changed; the tensors are not copies."""
        state = State() if self.supervision is None else self.supervision.state()
        state.tensors |= prefixed("network", self.network.state_dict())
        for number, moments in self.optimizer.state_dict()["state"].items():
            state.tensors |= prefixed(f"adam.{number}", moments)
        if self.average is not None:
            state.tensors |= prefixed("average", self.average.weights)
            state.values["average_steps"] = self.average.steps
        return state

    def load_state(self, state: State) -> None:
        """Continue from a checkpoint.

        Args:
            state: of :meth:`state`.

        Raises:
            KeyError, RuntimeError, ValueError: if it is the state of another training.
        """
        self.network.load_state_dict(under(state.tensors, "network"))
        if self.supervision is not None:
            self.supervision.load_state(state)
            if "centroids" in state.tensors:
                self.train_centroids(state.tensors["centroids"].clone())
        self._load_moments(state.tensors)
        if self.average is not None:
            self.average.weights, self.average.steps = under(state.tensors, "average"), state.values["average_steps"]

    def _load_moments(self, tensors: Mapping[str, Tensor]) -> None:
        """Adam's moments and steps, by the number of the weight they belong to."""
        found: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("adam."):
                number, _, moment = name.removeprefix("adam.").partition("/")
                found.setdefault(int(number), {})[moment] = value.clone()
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": found, "param_groups": groups})


def all_finite(values: Tensor, reduction: Reduction = ALONE) -> bool:
    """Whether all values are finite, in all processes.

    Args:
        values: of this process, of any shape.
        reduction: over the processes.

    Returns:
        The same in every process.
    """
    return reduction.count(int(not bool(torch.isfinite(values).all()))) == 0


def prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Put tensors under a common prefix.

    Args:
        prefix: of the new names.
        tensors: by name.

    Returns:
        The same tensors under "prefix/name".
    """
    return {f"{prefix}/{name}": value for name, value in tensors.items()}


def under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Copy the tensors under a prefix; the reverse of :func:`prefixed`.

    Args:
        tensors: by name.
        prefix: without the slash.

    Returns:
        The copies by the rest of their names.
    """
    start = prefix + "/"
    return {name[len(start) :]: value.clone() for name, value in tensors.items() if name.startswith(start)}
