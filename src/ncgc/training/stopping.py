"""When to stop, and which epoch's weights to keep.

NCGC's rules are :class:`BestValidation` and, without validation labels, :class:`StablePredictions`. Those of other papers are
:class:`KeepEpoch`; they differ from paper to paper, and so do results. Without validation labels other methods have
:class:`Stationary` or :class:`LastEpoch`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor

from ncgc.errors import ParameterError
from ncgc.losses import hard_cross_entropy
from ncgc.ops import ALONE, Reduction

RULES = ("last", "loss", "accuracy", "latest", "both", "ranked")  # of KeepEpoch


class StoppingRule(Protocol):
    """Sees the logits of an epoch, decides whether to keep its weights, and when to stop.

    Attributes:
        best_epoch: the epoch whose weights are kept; set by :meth:`observe`.
        keeps_last: whether the weights of the last epoch are kept, whatever they are: no copies are made then.
        averaging: the memory of an average of the weights that is evaluated and kept in their place; 0: none.
    """

    best_epoch: int
    keeps_last: bool
    averaging: float

    def evaluates(self, epoch: int) -> bool:
        """Whether the rule needs the logits of an epoch; if not, no evaluation pass is run.

        Args:
            epoch: counted from 1.

        Returns:
            True if :meth:`observe` must get them.
        """

    def observe(self, epoch: int, logits: Tensor) -> dict[str, float]:
        """Take in an epoch.

        Args:
            epoch: counted from 1.
            logits: (n, K) of an evaluation pass; empty where :meth:`evaluates` is False.

        Returns:
            Quantities for the history. ``best_epoch == epoch`` afterwards means: keep these weights.
        """

    def stop(self, epoch: int) -> str | None:
        """Decide whether to stop after an epoch.

        Args:
            epoch: counted from 1.

        Returns:
            The reason to stop, or None to go on.
        """


class Resumable(StoppingRule, Protocol):
    """A rule that can go on after an interruption."""

    def state(self) -> dict[str, Any]:
        """Its state, as JSON can hold it."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore the state.

        Args:
            state: of :meth:`state`.
        """

    def rows(self) -> dict[str, Tensor]:
        """(m, …) tensors by name: its state for every node of this process."""

    def load_rows(self, rows: Mapping[str, Tensor]) -> None:
        """Restore the state of the nodes.

        Args:
            rows: of :meth:`rows`.
        """


class _EveryEpoch:
    """What most rules have in common: they evaluate every epoch and keep a copy of the best."""

    keeps_last = False
    averaging = 0.0

    def evaluates(self, epoch: int) -> bool:
        return True


class BestValidation(_EveryEpoch):
    """Keeps the epoch of best validation accuracy, of equals the one with the lower validation loss.

    Patience is counted only once the clustering losses are at full weight (``settled`` epochs), or a model that does not
    improve during warm-up would never see them. Epochs before ``first`` count only if they are better by more than a
    standard error √(a(1−a)/m) of m validation nodes: weights from the warm-up are those of the plain backbone, and a lucky
    epoch among many is no reason to go back to it, while a clear loss is.

    Validation nodes drawn per class (as many of each) do not have the class shares of the graph, so their plain accuracy
    favours the wrong epoch. ``weigh`` then takes Σ_k b_k·accuracy_k with b the shares predicted for all nodes by the epoch
    of best balanced accuracy so far: one b for both epochs that are compared, and never that of an epoch that has collapsed.

    Args:
        index: (m,) validation nodes, those of this process.
        labels: (m,) their classes.
        patience: epochs without a gain to stop after.
        settled: epochs until the clustering losses are at full weight.
        weigh: whether to weigh classes by their predicted shares where validation nodes were drawn per class.
        first: the first epoch after the warm-up; 0: all epochs count alike.
        reduction: makes sums over the nodes of this process sums over all nodes.
    """

    def __init__(
        self,
        index: Tensor,
        labels: Tensor,
        patience: int,
        settled: int,
        weigh: bool = False,
        first: int = 0,
        reduction: Reduction = ALONE,
    ):
        self.index, self.labels, self.first = index, labels, first
        self.reduction, self.nodes = reduction, reduction.count(len(index))
        self.patience, self.settled = patience, settled
        self.best_epoch = 0
        self.best: tuple[float, float] = (-1.0, 0.0)  # accuracy, −loss
        self.weigh = weigh and _drawn_per_class(labels, reduction)
        self._balanced, self._shares = -1.0, torch.zeros(0)
        self._recalls = torch.zeros(0)  # of the best epoch
        self._counts: Tensor | None = None  # (K,) validation nodes of each class

    def observe(self, epoch: int, logits: Tensor) -> dict[str, float]:
        chosen = logits[self.index]
        right = (chosen.argmax(dim=1) == self.labels).double()
        classes = logits.shape[1]
        hits = torch.bincount(self.labels, weights=right, minlength=classes)
        loss, accuracy, hits = self._whole(chosen, right, hits)
        if not self.weigh:
            if self._better(epoch, (accuracy, -loss)):
                self.best, self.best_epoch = (accuracy, -loss), epoch
            return {"val_accuracy": accuracy, "val_loss": loss}
        if self._counts is None:
            self._counts = self.reduction.total(torch.bincount(self.labels, minlength=classes)).clamp_min(1)
        recalls = hits / self._counts
        if accuracy > self._balanced:  # as many of each class: the plain accuracy is the balanced one
            self._balanced, self._shares = accuracy, self._predicted_shares(logits)
        if self.best_epoch:
            self.best = (float(self._shares @ self._recalls), self.best[1])
        weighted = float(self._shares @ recalls)
        if self._better(epoch, (weighted, -loss)):
            self.best, self.best_epoch, self._recalls = (weighted, -loss), epoch, recalls
        return {"val_accuracy": accuracy, "val_weighted_accuracy": weighted, "val_loss": loss}

    def _whole(self, chosen: Tensor, right: Tensor, hits: Tensor) -> tuple[float, float, Tensor]:
        """Loss, accuracy and (K,) right answers by class over all validation nodes of the graph."""
        if self.reduction.alone:
            return hard_cross_entropy(chosen, self.labels).item(), right.mean().item(), hits
        loss = hard_cross_entropy(chosen, self.labels, self.nodes).double()
        sums = self.reduction.total(torch.cat([loss.view(1), hits]))
        return float(sums[0]), float(sums[1:].sum()) / self.nodes, sums[1:]

    def _predicted_shares(self, logits: Tensor) -> Tensor:
        """(K,) float64 mean prediction over all nodes of the graph."""
        predicted = logits.softmax(dim=1)
        if self.reduction.alone:
            return predicted.mean(dim=0).double()
        return self.reduction.total(predicted.double().sum(dim=0)) / self.reduction.count(len(logits))

    def state(self) -> dict[str, Any]:
        """What has to be known to go on after an interruption, as JSON takes it."""
        return {
            "best_epoch": self.best_epoch,
            "best": list(self.best),
            "balanced": self._balanced,
            "shares": self._shares.tolist(),
            "recalls": self._recalls.tolist(),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.best_epoch, self.best, self._balanced = state["best_epoch"], tuple(state["best"]), state["balanced"]
        self._shares = torch.tensor(state["shares"], dtype=torch.float64)
        self._recalls = torch.tensor(state["recalls"], dtype=torch.float64)

    def rows(self) -> dict[str, Tensor]:
        """What is known of every node: nothing here."""
        return {}

    def load_rows(self, rows: Mapping[str, Tensor]) -> None:
        pass

    def _better(self, epoch: int, found: tuple[float, float]) -> bool:
        """Whether what this epoch reached is to be kept rather than the best so far."""
        if self.best_epoch < self.first <= epoch:  # the best so far is from the warm-up
            accuracy = min(max(self.best[0], 0.0), 1.0)
            error: float = (accuracy * (1 - accuracy) / max(self.nodes, 1)) ** 0.5
            return found[0] >= accuracy - error
        return found > self.best

    def stop(self, epoch: int) -> str | None:
        since = epoch - max(self.best_epoch, self.settled)
        return "no gain in validation accuracy" if since >= self.patience else None


def _drawn_per_class(labels: Tensor, reduction: Reduction) -> bool:
    """Whether there are as many nodes of every class that occurs, more than two classes: chance hardly does that."""
    highest = int(reduction.highest(labels.max() if len(labels) else torch.tensor(-1)))
    counts = reduction.total(torch.bincount(labels, minlength=highest + 1))
    counts = counts[counts > 0]
    return len(counts) > 2 and bool((counts == counts[0]).all())


class StablePredictions(_EveryEpoch):
    """For a split without validation nodes: a rule that uses no labels.

    Training goes on until, over a window of ``patience`` epochs at full weight, no more than ``tolerance`` of all nodes
    end with another predicted class than they began the window with. The last weights are kept.

    Args:
        patience: epochs of a window.
        settled: epochs until the clustering losses are at full weight; the first window begins there.
        tolerance: the share of nodes that may change their class.
        reduction: makes sums over the nodes of this process sums over all nodes.
    """

    def __init__(self, patience: int, settled: int, tolerance: float = 0.001, reduction: Reduction = ALONE):
        self.reduction = reduction
        # the first window begins at an epoch that was seen, or one of a single epoch would compare it with itself
        self.patience, self.settled, self.tolerance = patience, max(settled, 1), tolerance
        self.best_epoch = 0
        self._anchor: Tensor | None = None
        self._moved = 1.0

    def observe(self, epoch: int, logits: Tensor) -> dict[str, float]:
        predicted = logits.argmax(dim=1)
        if self._anchor is None:
            self._anchor = predicted
        changed = (predicted != self._anchor).double()
        if self.reduction.alone:
            moved = changed.mean().item()
        else:
            moved = self.reduction.total(changed.sum()).item() / self.reduction.count(len(changed))
        if epoch > self.settled and (epoch - self.settled) % self.patience == 0:
            self._moved, self._anchor = moved, predicted
        elif epoch == self.settled:
            self._anchor = predicted
        self.best_epoch = epoch
        return {"moved": moved}

    def state(self) -> dict[str, Any]:
        return {"best_epoch": self.best_epoch, "moved": self._moved}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.best_epoch, self._moved = state["best_epoch"], state["moved"]

    def rows(self) -> dict[str, Tensor]:
        """What is known of every node: the class it began the window with."""
        return {} if self._anchor is None else {"anchor": self._anchor}

    def load_rows(self, rows: Mapping[str, Tensor]) -> None:
        self._anchor = rows.get("anchor")

    def stop(self, epoch: int) -> str | None:
        done = epoch > self.settled and (epoch - self.settled) % self.patience == 0 and self._moved <= self.tolerance
        return "predictions are stable" if done else None


class LastEpoch:
    """Keeps the last weights, whatever they are; evaluates nothing."""

    keeps_last = True
    averaging = 0.0

    def __init__(self) -> None:
        self.best_epoch = 0

    def evaluates(self, epoch: int) -> bool:
        return False

    def observe(self, epoch: int, logits: Tensor) -> dict[str, float]:
        self.best_epoch = epoch
        return {}

    def stop(self, epoch: int) -> str | None:
        return None


class Stationary(LastEpoch):
    """Keeps the average of the last weights, and stops where training only wanders: a rule without validation labels.

    With a constant step size and dropout the predictions of single epochs differ by some per cent of the nodes to the end,
    and by far more where steps are large (Meta-PN, PTA); those of weights averaged over half a window do not. Every
    ``window`` epochs it evaluates. Let c be the share of nodes that changed their class since the last evaluation. While
    training makes progress c falls, or more training labels are predicted right. It stops when no more training labels are
    right than ever before and c is no smaller than at the evaluation before, or at most ``tolerance``.

    Args:
        index: (l,) training nodes.
        labels: (l,) their classes.
        window: epochs between two evaluations.
        tolerance: a share of nodes small enough to stop at.
    """

    def __init__(self, index: Tensor, labels: Tensor, window: int, tolerance: float = 0.001):
        super().__init__()
        self.index, self.labels, self.window, self.tolerance = index, labels, window, tolerance
        self.averaging = max(1.0 - 2.0 / window, 0.0)
        self._classes: Tensor | None = None  # (n,) at the last evaluation
        self._moved, self._right = float("inf"), -1.0
        self._wanders = False

    def evaluates(self, epoch: int) -> bool:
        return epoch % self.window == 0

    def observe(self, epoch: int, logits: Tensor) -> dict[str, float]:
        self.best_epoch, self._wanders = epoch, False
        if not self.evaluates(epoch):
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


class KeepEpoch(_EveryEpoch):
    """Keeps the best epoch on the validation nodes by one of these rules, and stops by patience or by a window.

    - ``"loss"``: the lowest validation loss (GCNII, DAGNN, GPR-GNN, GRAND).
    - ``"accuracy"``: the highest validation accuracy, the first of equals; ``"latest"``: the last of equals (GraphMix).
    - ``"both"``: an epoch at which neither accuracy nor loss has ever been better (GAT).
    - ``"ranked"``: the highest accuracy, of equals the lowest loss (APPNP, PTA).
    - ``"last"``: the last epoch; validation only stops (GCN).

    Args:
        rule: one of these.
        index: (m,) validation nodes.
        labels: (m,) their classes.
        patience: epochs without a gain to stop after; None: no limit.
        either: whether accuracy or loss, if as good as ever, counts as a gain (GAT, APPNP, GRAND), and not only a newly kept
            epoch.
        window: stop when the loss exceeds the mean of the last ``window`` losses; None: never.
        window_after: the last epoch at which the window does not stop yet.

    Raises:
        ParameterError: for an unknown rule.
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
