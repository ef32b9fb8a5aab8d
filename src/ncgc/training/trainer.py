"""Trainer: the one training loop; an Engine runs its epochs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from ncgc.errors import TrainingError
from ncgc.ops import kept_memory
from ncgc.training.history import History, TrainingResult, Watcher
from ncgc.training.learner import Learner, State
from ncgc.training.stopping import StoppingRule


class Engine(Protocol):
    """How an epoch is run: the whole graph at once, or part after part; in one process or in several.

    Attributes:
        learner: the weights in training.
    """

    learner: Learner

    def step(self, epoch: int) -> dict[str, float] | None:
        """Descend for one epoch.

        Args:
            epoch: counted from 1.

        Returns:
            The losses by name, "total" among them; None if one is not finite: no step is then taken with its gradient.
        """

    def evaluate(self) -> Tensor | None:
        """The evaluation pass: (n, K) logits without dropout; None if one is not finite."""

    def state(self) -> State:
        """What a checkpoint has to hold."""

    def load_state(self, state: State) -> None:
        """Continue from a checkpoint.

        Args:
            state: of :meth:`state`.
        """


class Trainer:
    """Trains epoch after epoch: a step, an evaluation pass, and the best weights kept as a true copy.

    It never sees a label: those of the training nodes are inside the engine's loss, those of the validation nodes inside
    the stopping rule.

    Args:
        engine: runs an epoch.
        stopping: decides what to keep and when to stop.
        epochs: the most epochs.
        watch: called after each epoch.
        keep: called after each epoch with the trainer and the epoch, to write a checkpoint.
    """

    def __init__(
        self,
        engine: Engine,
        stopping: StoppingRule,
        epochs: int,
        watch: Watcher | None = None,
        keep: Callable[[Trainer, int], None] | None = None,
    ):
        self.engine, self.stopping, self.epochs = engine, stopping, epochs
        self.watch, self.keep = watch, keep
        self.history = History()
        self.done = 0  # epochs, those before an interruption too
        self.spent = 0.0  # seconds, before this run
        self.best, self.best_epoch = engine.learner.weights(), 0

    def run(self) -> TrainingResult:
        """Train to the end, a stop or Ctrl-C, then put the best weights back.

        Returns:
            How it went; the network has the weights of its best epoch.

        Raises:
            TrainingError: if not even the first epoch has a finite loss.
        """
        start = time.perf_counter() - self.spent
        try:
            with kept_memory():
                termination = self._epochs(start)
        except KeyboardInterrupt:
            termination = "interrupted"
        if self.stopping.keeps_last and "not finite" not in termination:
            self.best, self.best_epoch = self.engine.learner.weights(), len(self.history)
        self.engine.learner.restore(self.best)
        return TrainingResult(self.history, self.best_epoch, termination, time.perf_counter() - start)

    def _epochs(self, start: float) -> str:
        """Epoch after epoch, until the reason to stop that is returned."""
        if self.done and (reason := self.stopping.stop(self.done)) is not None:
            return reason  # the checkpoint was written, and then there was no time to stop
        for epoch in range(self.done + 1, self.epochs + 1):
            self.engine.learner.set_step_size(epoch)
            losses = self.engine.step(epoch)
            observed = None if losses is None else self._observe(epoch)
            if losses is None or observed is None:
                return self._not_finite(epoch)
            quantities = losses | observed | {"seconds": time.perf_counter() - start}
            self.history.append(epoch=epoch, **quantities)
            if self.stopping.best_epoch == epoch and not self.stopping.keeps_last:
                self.best, self.best_epoch = self.engine.learner.weights(), epoch
            if self.watch is not None:
                self.watch(epoch, quantities)
            self.done, self.spent = epoch, quantities["seconds"]
            if self.keep is not None:
                self.keep(self, epoch)
            reason = self.stopping.stop(epoch)
            if reason is not None:
                return reason
        return "all epochs done"

    def _observe(self, epoch: int) -> dict[str, float] | None:
        """What the stopping rule finds in the epoch; None if the step was so large that its predictions are not finite."""
        if not self.stopping.evaluates(epoch):
            return self.stopping.observe(epoch, torch.zeros(0))
        logits = self.engine.evaluate()
        return None if logits is None else self.stopping.observe(epoch, logits)

    def _not_finite(self, epoch: int) -> str:
        if not self.history.rows:
            raise TrainingError(
                "The loss is not finite in the very first epoch; normalise the features (features='row') or lower the "
                f"learning rate {self.engine.learner.learning_rate}."
            )
        return f"the loss was not finite in epoch {epoch}"
