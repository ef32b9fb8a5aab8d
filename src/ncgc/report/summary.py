"""The figures of a report that are counted over all nodes: the headline, the tiles, shares, confidence, confusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ncgc.report.data import ReportData
from ncgc.report.formatting import duration, number, plural, share, shortened

MOST_CLASSES = 30  # rows of the class shares
MOST_CONFUSED = 15  # rows and columns of the confusion matrix
MISTAKES = 6
HISTOGRAM = 20  # bins of confidence


@dataclass(frozen=True)
class Tile:
    """One figure: what it is, its value, and a few words on it."""

    name: str
    value: str
    words: str = ""


def headline(data: ReportData) -> str:
    """What was found, in a sentence: "2,568 of 2,708 nodes labelled from 140 labels; mean confidence 0.83"."""
    given = int((data.given >= 0).sum())
    found = int(data.found.sum())
    text = f"{found:,} of {plural(len(data.given), 'node')} labelled from {plural(given, 'label')}"
    return f"{text}; mean confidence {data.confidence[data.found].mean():.2f}" if found else text


def tiles(data: ReportData) -> list[Tile]:
    """The key figures, most wanted first; those that are not known are left out."""
    found = data.found
    made = [Tile("Nodes labelled", f"{found.sum():,}", f"of {plural(len(found), 'node')}")]
    made.append(
        Tile("Labels given", f"{(data.given >= 0).sum():,}", f"in {_present(data)} of {len(data.classes):,} classes")
    )
    if found.any():
        made.append(Tile("Mean confidence", f"{data.confidence[found].mean():.2f}", "of the labels predicted"))
    held = held_out(data)
    if held.any() and data.truth is not None:
        right = float((data.predicted[held] == data.truth[held]).mean())
        made.append(Tile("Accuracy", share(right), f"on {plural(int(held.sum()), 'held-out node')}"))
    if data.reliability is not None and data.reliability.bins:
        made.append(Tile("Calibration error", f"{data.reliability.error:.3f}", "0 is perfect"))
    if data.abstain is not None:
        made.append(
            Tile("Left unlabelled", f"{data.abstain.unlabelled:,}", f"confidence below {data.abstain.threshold:.2f}")
        )
    made.append(Tile("Training time", duration(data.seconds), _epochs(data)))
    return made


def facts(data: ReportData) -> list[Tile]:
    return [Tile(str(name)[:1].upper() + str(name)[1:], number(value)) for name, value in data.facts]


def held_out(data: ReportData) -> np.ndarray:
    """(n,) the nodes to judge by: their label is known, training was not given it, and they were labelled."""
    return data.found & (data.truth >= 0) if data.truth is not None else np.zeros(len(data.given), dtype=bool)


def label_counts(data: ReportData) -> list[int]:
    """(K,) how many nodes have each label, given or found."""
    labels = data.labels
    counts: list[int] = np.bincount(labels[labels >= 0], minlength=len(data.classes)).tolist()
    return counts


def class_shares(data: ReportData) -> dict[str, Any]:
    """Counts of given and of predicted labels of each class, the most frequent classes first."""
    k = len(data.classes)
    given = np.bincount(data.given[data.given >= 0], minlength=k)
    found = np.bincount(data.predicted[data.found], minlength=k)
    order = np.argsort(-(given + found), kind="stable")[:MOST_CLASSES]
    return {
        "classes": order.tolist(),
        "given": given[order].tolist(),
        "found": found[order].tolist(),
        "givenTotal": int(given.sum()),
        "foundTotal": int(found.sum()),
        "of": k,
    }


def confidence_histogram(data: ReportData) -> dict[str, Any] | None:
    """How many nodes without a given label have a confidence in each twentieth; None if every label was given."""
    open_nodes = data.given < 0
    if not open_nodes.any():
        return None
    place = (data.confidence[open_nodes] * HISTOGRAM + 1e-9).astype(np.int64)  # 0.7 · 20 is a little less than 14
    counts = np.bincount(place.clip(0, HISTOGRAM - 1), minlength=HISTOGRAM)
    return {"counts": counts.tolist(), "threshold": None if data.abstain is None else data.abstain.threshold}


def confusion(data: ReportData) -> dict[str, Any] | None:
    """True class by predicted class over the held-out nodes; classes beyond the 15 most frequent are one row and column."""
    held = held_out(data)
    if data.truth is None or not held.any():
        return None
    truth, found, k = data.truth[held], data.predicted[held], len(data.classes)
    frequent = np.argsort(-(np.bincount(truth, minlength=k) + np.bincount(found, minlength=k)), kind="stable")
    shown = np.sort(frequent) if k <= MOST_CONFUSED else np.sort(frequent[: MOST_CONFUSED - 1])
    place = np.full(k, len(shown))
    place[shown] = np.arange(len(shown))
    size = len(shown) + (k > len(shown))
    counts = np.bincount(place[truth] * size + place[found], minlength=size * size).reshape(size, size)
    right = truth == found  # among the others, to be taken for another of them is not right
    names = [shortened(data.classes[i]) for i in shown] + [f"{k - len(shown):,} others"] * (size - len(shown))
    return {
        "names": names,
        "rows": counts.tolist(),
        "shares": (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).round(3).tolist(),
        "recall": [
            share(float(right[place[truth] == row].mean())) if total else "–" for row, total in enumerate(counts.sum(1))
        ],
        "nodes": int(held.sum()),
        "right": int(right.sum()),
        "folded": k - len(shown),
        "mistakes": _mistakes(data, truth, found),
    }


def _mistakes(data: ReportData, truth: np.ndarray, found: np.ndarray) -> list[tuple[int, str, str]]:
    """How often, the true class, the class it was taken for: the most frequent first, over all classes."""
    wrong = truth != found
    pairs, counts = np.unique(np.stack([truth[wrong], found[wrong]], axis=1), axis=0, return_counts=True)
    first = np.argsort(-counts, kind="stable")[:MISTAKES]
    name = [shortened(title) for title in data.classes]
    return [(int(count), name[a], name[b]) for count, (a, b) in zip(counts[first], pairs[first], strict=True)]


def _present(data: ReportData) -> str:
    return f"{len(np.unique(data.given[data.given >= 0])):,}"


def _epochs(data: ReportData) -> str:
    epochs = len(next(iter(data.history.values()), ()))
    return plural(epochs, "epoch") if epochs else ""
