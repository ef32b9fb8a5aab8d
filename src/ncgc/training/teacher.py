"""PredictionAverage: what the model has said over the last epochs, as the source of pseudo-labels."""

from __future__ import annotations

import torch
from torch import Tensor


class PredictionAverage:
    """P̄ ← d_t·P̄ + (1−d_t)·softmax(logits) after every epoch, with d_t = min(d, t/(t+9)): a mean at first, then one that forgets.

    Predictions with few labels swing from epoch to epoch, on Computers by several points of accuracy. Pseudo-labels from a
    bad epoch are learnt and stay; their average is about as good as the best epochs.

    >>> average = PredictionAverage(0.9)
    >>> average.update(torch.tensor([[0.0, 0.0]])).exp()
    tensor([[0.5000, 0.5000]])
    """

    def __init__(self, memory: float):
        self.memory, self.epochs = memory, 0
        self.mean = torch.zeros(0)

    @torch.no_grad()
    def update(self, logits: Tensor) -> Tensor:
        """(n, K) log P̄ with these (n, K) logits taken in; it may be used like logits."""
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
