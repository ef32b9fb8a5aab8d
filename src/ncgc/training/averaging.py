"""Averages over the epochs: of the weights, to evaluate with and to keep, and of the predictions, to make pseudo-labels of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """w̄ ← d_t·w̄ + (1−d_t)·w after every step, with d_t = min(d, t/(t+9)): a mean at first, then one that forgets.

    Its predictions change less from step to step than those of the weights themselves, so pseudo-labels from it are a
    steadier target (a mean teacher), and the epoch chosen on few validation nodes is less a matter of luck. Buffers
    (batch norm's statistics) are the network's own.

    Args:
        network: whose weights are averaged.
        decay: d, from 0 to 1.

    Attributes:
        weights: the averaged weights by name.
        steps: t, how many were averaged.

    >>> layer = nn.Linear(1, 1, bias=False)
    >>> average = WeightAverage(layer, 0.9)
    >>> with torch.no_grad():
    ...     _ = layer.weight.fill_(1.0)
    >>> average.update()
    >>> with average.in_network():
    ...     evaluated = layer.weight.item()
    >>> evaluated != layer.weight.item()
    True
    """

    def __init__(self, network: nn.Module, decay: float):
        self.network, self.decay, self.steps = network, decay, 0
        self.weights = {name: weight.detach().clone() for name, weight in network.named_parameters()}

    @torch.no_grad()
    def update(self) -> None:
        """Take in the network's weights after a step."""
        self.steps += 1
        decay = min(self.decay, self.steps / (self.steps + 9))
        latest = dict(self.network.named_parameters())
        names = list(self.weights)
        torch._foreach_lerp_([self.weights[name] for name in names], [latest[name] for name in names], 1 - decay)

    @contextmanager
    def in_network(self) -> Iterator[None]:
        """Inside, the network has the averaged weights."""
        latest = {name: value.detach().clone() for name, value in self.network.named_parameters()}
        self.network.load_state_dict(self.state_dict())
        try:
            yield
        finally:
            self.network.load_state_dict(self.network.state_dict() | latest)

    def state_dict(self) -> dict[str, Tensor]:
        """The averaged weights, with the network's own buffers."""
        return self.network.state_dict() | self.weights


class PredictionAverage:
    """P̄ ← d_t·P̄ + (1−d_t)·softmax(logits) after every epoch, with d_t = min(d, t/(t+9)): a mean at first, then one that forgets.

    Predictions with few labels swing from epoch to epoch, on Computers by several points of accuracy. Pseudo-labels from a
    bad epoch are learnt and stay; their average is about as good as the best epochs.

    Args:
        memory: d, from 0 to 1.

    Attributes:
        mean: (n, K) P̄.
        epochs: t, how many were averaged.

    >>> average = PredictionAverage(0.9)
    >>> average.update(torch.tensor([[0.0, 0.0]])).exp()
    tensor([[0.5000, 0.5000]])
    """

    def __init__(self, memory: float):
        self.memory, self.epochs = memory, 0
        self.mean = torch.zeros(0)

    @torch.no_grad()
    def update(self, logits: Tensor) -> Tensor:
        """Take in an epoch.

        Args:
            logits: (n, K) of an evaluation pass.

        Returns:
            (n, K) log P̄, which may be used like logits.
        """
        latest = logits.softmax(dim=1)
        if self.epochs:
            self.mean.lerp_(latest, 1 - min(self.memory, self.epochs / (self.epochs + 9)))
        else:
            self.mean = latest
        self.epochs += 1
        return self.log_mean()

    def log_mean(self) -> Tensor:
        """(n, K) log P̄."""
        return self.mean.clamp_min(torch.finfo(self.mean.dtype).tiny).log()
