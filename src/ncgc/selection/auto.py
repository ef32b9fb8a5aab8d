"""Choose a method for a graph: cross-validation on the training labels, cheapest first, within a time budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ncgc.datasets import Split
from ncgc.evaluation.calibration import assign_folds
from ncgc.evaluation.metrics import accuracy
from ncgc.graph import Graph
from ncgc.training import Watcher

# The methods that `auto` tries, each with the parameters that differ from its recommended ones. Cheapest first, so that
# a short budget still compares some; the last is taken when nothing can be compared. APPNP is the backbone that leads
# docs/leaderboard.md.
CANDIDATES: Mapping[str, Mapping[str, Any]] = {
    "label_spreading": {},
    "logistic_regression": {},
    "sgc": {},
    "mlp_ppr": {},
    "appnp": {},
    "ncgc": {"backbone": "appnp"},
}
FOLDS = 3
Progress = Callable[[str, int], AbstractContextManager[Watcher | None]]


@dataclass(frozen=True)
class Trial:
    """One candidate, cross-validated.

    Attributes:
        method: its name.
        accuracy: on labels that were held out.
        labels: how many were held out.
        seconds: time of all folds.
    """

    method: str
    accuracy: float
    labels: int
    seconds: float


@dataclass(frozen=True)
class Choice:
    """The chosen method, and why it was chosen.

    Attributes:
        method: its name.
        trials: the candidates that were tried, in order.
        left_out: candidates that there was no time for.
        reason: why this one, in words.
    """

    method: str
    trials: tuple[Trial, ...]
    left_out: tuple[str, ...]
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The choice in JSON's types."""
        tried = [
            {"method": t.method, "accuracy": t.accuracy, "labels": t.labels, "seconds": t.seconds} for t in self.trials
        ]
        return {"method": self.method, "tried": tried, "left_out": list(self.left_out), "reason": self.reason}


def choose_method(
    graph: Graph,
    split: Split,
    make: Callable[[str], Any],
    budget: float,
    seed: int = 0,
    report: Callable[[str], None] | None = None,
    progress: Progress | None = None,
    candidates: Sequence[str] = tuple(CANDIDATES),
) -> Choice:
    """Cross-validate the candidates on the training labels and choose the best.

    Of those within a standard error √(a(1−a)/m) of the best accuracy a on m labels, the last in the list is chosen: few
    labels cannot tell them apart, and candidates are listed from the simplest to the one we trust most. Validation and
    test labels are not used. A candidate is not begun when it would overrun the budget by the time of those before it,
    and given up when it would by the time of its own folds so far; the first is always tried.

    Args:
        graph: the graph.
        split: its training labels are used, no others.
        make: makes the model of a method by name, not fitted.
        budget: seconds.
        seed: of the folds.
        report: called with a sentence about each candidate.
        progress: makes a watcher of the epochs of a candidate, for a progress bar.
        candidates: names of methods, cheapest first.

    Returns:
        The method and how it was found.
    """
    fold = assign_folds(graph.labels[split.train], FOLDS, seed)
    trials: list[Trial] = []
    left_out: list[str] = []
    start = time.perf_counter()
    if not (fold >= 0).any():
        return Choice(candidates[-1], (), tuple(candidates[:-1]), "every class has one label, so none can be held out")
    for name in candidates:
        spent = time.perf_counter() - start
        trial = None
        if not trials or spent + max(trial.seconds for trial in trials) <= budget:
            trial = _try(graph, split, fold, name, make(name), budget - spent if trials else math.inf, progress)
        if trial is None:
            left_out.append(name)
            continue
        trials.append(trial)
        if report is not None:
            report(f"{name}: {100 * trial.accuracy:.1f} % of {trial.labels} held-out labels, {trial.seconds:.1f} s")
    best = max(reversed(trials), key=lambda trial: trial.accuracy)  # of equals the one trusted most
    near = best.accuracy - (best.accuracy * (1 - best.accuracy) / best.labels) ** 0.5
    chosen = [trial for trial in trials if trial.accuracy >= near][-1]
    return Choice(chosen.method, tuple(trials), tuple(left_out), _reason(chosen, best, left_out, budget))


def _try(
    graph: Graph, split: Split, fold: np.ndarray, name: str, model: Any, left: float, progress: Progress | None
) -> Trial | None:
    """Cross-validate one candidate; None as soon as its folds will take more than the seconds that are left."""
    folds = [number for number in range(FOLDS) if (fold == number).any()]
    epochs = model.max_epochs
    begun, right = time.perf_counter(), []
    with nullcontext() if progress is None else progress(name, epochs * len(folds)) as watch:
        for done, number in enumerate(folds):
            nodes = split.train[fold == number]
            kept = replace(split, train=split.train[fold != number], val=split.val[:0], test=nodes)
            fitted = clone(model).fit(graph, kept, watch=None if watch is None else _after(watch, done * epochs))
            if fitted.termination_ == "interrupted":  # a training takes Ctrl-C for its own end, here it is that of all
                raise KeyboardInterrupt
            right.append(fitted.decision_function().argmax(axis=1)[nodes] == graph.labels[nodes])
            spent = time.perf_counter() - begun
            if done + 1 < len(folds) and spent * len(folds) / (done + 1) > left:
                return None
    hits = np.concatenate(right)
    return Trial(name, accuracy(hits, np.ones_like(hits)), len(hits), time.perf_counter() - begun)


def _after(watch: Watcher, epochs: int) -> Watcher:
    """The same watcher for a training that others went before."""
    return lambda epoch, quantities: watch(epochs + epoch, quantities)


def _reason(chosen: Trial, best: Trial, left_out: list[str], budget: float) -> str:
    words = f"{100 * chosen.accuracy:.1f} % of {chosen.labels} held-out labels right"
    if chosen is not best:
        words += f", within a standard error of the best ({best.method}, {100 * best.accuracy:.1f} %)"
    if left_out:
        words += f"; no time in {budget:g} s for {', '.join(left_out)}"
    return words
