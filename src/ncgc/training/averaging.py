"""WeightAverage: a slow copy of the weights, to look with and to keep."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class WeightAverage:
    """w̄ ← d_t·w̄ + (1−d_t)·w after every step, with d_t = min(d, t/(t+9)): a mean at first, then one that forgets.

    Its predictions change less from step to step than those of the weights themselves, so pseudo-labels from it are a
    steadier target (a mean teacher), and the epoch chosen on few validation nodes is less a matter of luck. Buffers
    (batch norm's statistics) are the network's own.

    >>> layer = nn.Linear(1, 1, bias=False)
    >>> average = WeightAverage(layer, 0.9)
    >>> with torch.no_grad():
    ...     _ = layer.weight.fill_(1.0)
    >>> average.update()
    >>> average(torch.ones(1, 1)).shape
    torch.Size([1, 1])
    """

    def __init__(self, network: nn.Module, decay: float):
        self.network, self.decay, self.steps = network, decay, 0
        self.weights = {name: weight.detach().clone() for name, weight in network.named_parameters()}

    @torch.no_grad()
    def update(self) -> None:
        self.steps += 1
        decay = min(self.decay, self.steps / (self.steps + 9))
        latest = dict(self.network.named_parameters())
        names = list(self.weights)
        torch._foreach_lerp_([self.weights[name] for name in names], [latest[name] for name in names], 1 - decay)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The network's answer with the averaged weights."""
        return torch.func.functional_call(self.network, self.weights, arguments, named)

    def state_dict(self) -> dict[str, Tensor]:
        return self.network.state_dict() | self.weights
