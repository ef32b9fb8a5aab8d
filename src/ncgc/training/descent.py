"""Descent: step after step down a loss that somebody else computes, the best weights kept as a true copy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn

from ncgc.errors import TrainingError
from ncgc.ops import kept_memory
from ncgc.training.averaging import WeightAverage
from ncgc.training.history import History, TrainingResult, Watcher
from ncgc.training.keep import LastEpoch
from ncgc.training.stopping import StoppingRule


def descend(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Callable[[int], Tensor | dict[str, Tensor]],
    look: Callable[[], Tensor],
    stopping: StoppingRule,
    epochs: int,
    watch: Watcher | None = None,
) -> TrainingResult:
    """Full-batch training: an epoch is ``loss(epoch)`` in training mode, one step, and a look without dropout.

    Args:
        loss: of an epoch counted from 1: one number, or named parts that are summed.
        look: (n, K) logits of all nodes; called in evaluation mode without gradients. A stopping that keeps the last weights
            (``stopping.blind``) says at which epochs it ``looks``.
        stopping: says which epoch to keep and when to stop. One that keeps the last weights may want them averaged over
            the last epochs (``stopping.averaging``, the memory of the average): it then looks with the average too.

    Ctrl-C ends it as ``"interrupted"``, with the best weights so far.
    """
    start, history = time.perf_counter(), History()
    best, best_epoch = _copy(network), 0
    decay = getattr(stopping, "averaging", 0.0)
    average = WeightAverage(network, decay) if decay else None
    termination = "all epochs done"
    try:
        with kept_memory():
            for epoch in range(1, epochs + 1):
                network.train()
                optimizer.zero_grad(set_to_none=True)
                found = loss(epoch)
                parts = found if isinstance(found, dict) else {}
                total = torch.stack(list(found.values())).sum() if isinstance(found, dict) else found
                if not bool(torch.isfinite(total)):
                    termination = _not_finite(epoch, history)
                    break
                total.backward()
                optimizer.step()
                if average is not None:
                    average.update()
                looked = _look(network, look, stopping, epoch, average)
                if looked is None:
                    termination = _not_finite(epoch, history)
                    break
                quantities = {name: part.item() for name, part in parts.items()} | {"total": total.item()} | looked
                history.append(epoch=epoch, **quantities, seconds=time.perf_counter() - start)
                if stopping.best_epoch == epoch and not getattr(stopping, "blind", False):
                    best, best_epoch = _copy(network), epoch
                if watch is not None:
                    watch(epoch, quantities)
                reason = stopping.stop(epoch)
                if reason is not None:
                    termination = reason
                    break
    except KeyboardInterrupt:
        termination = "interrupted"
    if getattr(stopping, "blind", False) and "not finite" not in termination:
        best_epoch = len(history)  # the weights that are there
        if average is not None:
            network.load_state_dict(average.state_dict())
    else:
        network.load_state_dict(best)
    network.eval()
    return TrainingResult(history, best_epoch, termination, time.perf_counter() - start)


@torch.no_grad()
def _look(
    network: nn.Module,
    look: Callable[[], Tensor],
    stopping: StoppingRule,
    epoch: int,
    average: WeightAverage | None,
) -> dict[str, float] | None:
    if getattr(stopping, "blind", False) and not cast(LastEpoch, stopping).looks(epoch):
        return stopping.observe(epoch, torch.zeros(0))
    network.eval()
    if average is None:
        logits = look()
    else:
        latest = _copy(network)
        network.load_state_dict(average.state_dict())
        logits = look()
        network.load_state_dict(latest)
    return stopping.observe(epoch, logits) if bool(torch.isfinite(logits).all()) else None


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in network.state_dict().items()}


def _not_finite(epoch: int, history: History) -> str:
    if not history.rows:
        raise TrainingError(
            "The loss is not finite in the very first epoch; scale the features (features='row') or lower the learning rate."
        )
    return f"the loss was not finite in epoch {epoch}"
