"""Which method to take for a graph: cross-validation on the training labels, cheapest first, within a time budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ncgc.calibration import deal
from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.metrics import accuracy

# cheapest first, so that a short budget still compares something; ncgc is what is taken when nothing could be compared
CANDIDATES = ("label_spreading", "logistic_regression", "sgc", "appnp", "ncgc")
FOLDS = 3
Say = Callable[[str], None]


@dataclass(frozen=True)
class Trial:
    """A method tried: its accuracy on labels that were held out, out of how many, and the seconds it took."""

    method: str
    accuracy: float
    labels: int
    seconds: float


@dataclass(frozen=True)
class Choice:
    """The method taken, what was tried, what there was no time for, and why, in a sentence."""

    method: str
    trials: tuple[Trial, ...]
    left_out: tuple[str, ...]
    reason: str

    def to_dict(self) -> dict[str, Any]:
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
    say: Say | None = None,
    candidates: tuple[str, ...] = CANDIDATES,
) -> Choice:
    """Cross-validate the candidates on the training labels and take the best.

    Of those within a standard error √(a(1−a)/m) of the best on m labels the one that comes last is taken: with few labels
    cross-validation cannot tell them apart, and candidates are listed from the simplest to the one we trust most. Validation
    and test labels are not looked at. A candidate is not begun when, by the time of those before it, it would overrun
    the budget; at least one always is.

    Args:
        make: an estimator, not fitted, for the name of a method.
        budget: seconds.
        say: hears a sentence about each candidate.
    """
    fold = deal(graph.labels[split.train], FOLDS, seed)
    held_out = int((fold >= 0).sum())
    trials: list[Trial] = []
    left_out: list[str] = []
    start = time.perf_counter()
    if not held_out:
        return Choice(candidates[-1], (), tuple(candidates[:-1]), "every class has one label, so none can be held out")
    for name in candidates:
        spent = time.perf_counter() - start
        if trials and spent + max(trial.seconds for trial in trials) > budget:
            left_out.append(name)
            continue
        begun, right = time.perf_counter(), []
        for number in range(FOLDS):
            held = split.train[fold == number]
            if len(held):
                kept = replace(split, train=split.train[fold != number], val=split.val[:0], test=held)
                model = clone(make(name)).fit(graph, kept)
                right.append(model.decision_function().argmax(axis=1)[held] == graph.labels[held])
        hits = np.concatenate(right)
        trial = Trial(name, accuracy(hits, np.ones_like(hits)), len(hits), time.perf_counter() - begun)
        trials.append(trial)
        if say is not None:
            say(f"{name}: {100 * trial.accuracy:.1f} % of {trial.labels} held-out labels, {trial.seconds:.1f} s")
    best = max(trials, key=lambda trial: trial.accuracy)
    near = best.accuracy - (best.accuracy * (1 - best.accuracy) / best.labels) ** 0.5
    taken = [trial for trial in trials if trial.accuracy >= near][-1]
    return Choice(taken.method, tuple(trials), tuple(left_out), _reason(taken, best, left_out, budget))


def _reason(taken: Trial, best: Trial, left_out: list[str], budget: float) -> str:
    words = f"{100 * taken.accuracy:.1f} % of {taken.labels} held-out labels right"
    if taken is not best:
        words += f", within a standard error of the best ({best.method}, {100 * best.accuracy:.1f} %)"
    if left_out:
        words += f"; no time in {budget:g} s for {', '.join(left_out)}"
    return words
