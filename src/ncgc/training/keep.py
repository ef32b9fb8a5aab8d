"""The rules of the field for which epoch to keep and when to stop; they differ from paper to paper, and so do results."""

from __future__ import annotations

import torch
from torch import Tensor

from ncgc.errors import ParameterError

RULES = ("last", "loss", "accuracy", "latest", "both", "ranked")


class LastEpoch:
    """Keeps the last weights, whatever they are; looks at nothing."""

    blind = True  # the weights that are there at the end are kept

    def __init__(self) -> None:
        self.best_epoch = 0

    def looks(self, epoch: int) -> bool:
        """Whether it wants to see the logits of this epoch; a pass without dropout would be for nothing."""
        return False

    def observe(self, epoch: int, logits: Tensor) -> dict[str, float]:
        self.best_epoch = epoch
        return {}

    def stop(self, epoch: int) -> str | None:
        return None


class Stationary(LastEpoch):
    """Keeps the average of the last weights, and stops where training only wanders: a rule without validation labels.

    With a constant step size and dropout the predictions of single epochs differ by some per cent of the nodes to the end,
    and by far more where steps are large (Meta-PN, PTA); those of weights averaged over half a window do not. It looks after every ``window`` epochs. c is the share of nodes that have another class than at the last look. While
    training gets somewhere c falls, or more training labels come out right. It stops when no more training labels are right than ever before, and c is no smaller than it was at the look
    before or at most ``tolerance``.

    Args:
        index, labels: (l,) training nodes and their classes.
        window: epochs between two looks.
    """

    def __init__(self, index: Tensor, labels: Tensor, window: int, tolerance: float = 0.001):
        super().__init__()
        self.index, self.labels, self.window, self.tolerance = index, labels, window, tolerance
        self.averaging = max(1.0 - 2.0 / window, 0.0)
        self._classes: Tensor | None = None  # (n,) at the last look
        self._moved, self._right = float("inf"), -1.0
        self._wanders = False

    def looks(self, epoch: int) -> bool:
        return epoch % self.window == 0

    def observe(self, epoch: int, logits: Tensor) -> dict[str, float]:
        self.best_epoch, self._wanders = epoch, False
        if not self.looks(epoch):
            return {}
        classes, before = logits.argmax(dim=1), self._classes
        right = (classes[self.index] == self.labels).double().mean().item()
        moved = float("inf") if before is None else (classes != before).double().mean().item()
        still = moved <= self.tolerance or self._moved <= moved
        self._wanders = before is not None and still and right <= self._right
        self._classes, self._moved, self._right = classes, moved, max(right, self._right)
        return {} if before is None else {"moved": moved}

    def stop(self, epoch: int) -> str | None:
        return "predictions wander and settle no further" if self._wanders else None


class KeepEpoch:
    """Keeps the best epoch on the validation nodes by one of these rules, and stops by patience or by a window.

    - ``"loss"``: the lowest validation loss (GCNII, DAGNN, GPR-GNN, GRAND).
    - ``"accuracy"``: the highest validation accuracy, the first of equals; ``"latest"``: the last of equals (GraphMix).
    - ``"both"``: an epoch at which neither accuracy nor loss has ever been better (GAT).
    - ``"ranked"``: the highest accuracy, of equals the lowest loss (APPNP, PTA).
    - ``"last"``: the last epoch; validation only stops (GCN).

    Args:
        index, labels: (m,) validation nodes and their classes.
        patience: stop when for so many epochs nothing got better: what is kept or, with ``either``, accuracy or loss, of
            which to be as good as ever is then enough (GAT, APPNP, GRAND).
        window: stop when the loss exceeds the mean of so many losses before it, after epoch ``window_after``.
    """

    def __init__(
        self,
        rule: str,
        index: Tensor,
        labels: Tensor,
        patience: int | None = None,
        *,
        either: bool = False,
        window: int | None = None,
        window_after: int = 0,
    ):
        if rule not in RULES:
            raise ParameterError(
                f"The rule to keep an epoch by must be one of {', '.join(RULES)}. Got {rule!r} instead."
            )
        self.rule, self.index, self.labels = rule, index, labels
        self.patience, self.either = patience, either
        self.window, self.window_after = window, window_after
        self.best_epoch = 0
        self._accuracy, self._loss = -1.0, float("inf")  # the best of each so far
        self._kept = (-1.0, float("-inf"))  # accuracy and −loss of the kept epoch
        self._fresh = 0  # the epoch at which something last got better
        self._losses: list[float] = []

    def observe(self, epoch: int, logits: Tensor) -> dict[str, float]:
        chosen = logits[self.index]
        loss = torch.nn.functional.cross_entropy(chosen, self.labels).item()
        accuracy = (chosen.argmax(dim=1) == self.labels).double().mean().item()
        if self._better(accuracy, loss):
            self.best_epoch, self._kept = epoch, (accuracy, -loss)
            self._fresh = epoch if self.rule != "last" else self._fresh
        if (self.either or self.rule == "last") and (accuracy >= self._accuracy or loss <= self._loss):
            self._fresh = epoch
        self._accuracy, self._loss = max(accuracy, self._accuracy), min(loss, self._loss)
        self._losses.append(loss)
        return {"val_accuracy": accuracy, "val_loss": loss}

    def _better(self, accuracy: float, loss: float) -> bool:
        if self.rule == "loss":
            return loss < self._loss
        if self.rule == "accuracy":
            return accuracy > self._accuracy
        if self.rule == "latest":
            return accuracy >= self._accuracy
        if self.rule == "both":
            return accuracy >= self._accuracy and loss <= self._loss
        return self.rule == "last" or (accuracy, -loss) > self._kept

    def stop(self, epoch: int) -> str | None:
        if self.patience is not None and epoch - self._fresh >= self.patience:
            return "no gain on the validation nodes"
        if self.window is not None and epoch > max(self.window, self.window_after):
            before = self._losses[-self.window - 1 : -1]
            if self._losses[-1] > sum(before) / len(before):
                return "the validation loss rises"
        return None
