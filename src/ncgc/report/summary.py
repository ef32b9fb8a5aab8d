"""What the report shows: headline, key figures, class shares, confidence, confusion matrix and training curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ncgc.report.data import ReportData
from ncgc.report.formatting import duration, number, percentage, plural, shortened

MOST_CLASSES = 30  # rows of the class shares
MOST_CONFUSED = 15  # rows and columns of the confusion matrix
MISTAKES = 6
HISTOGRAM = 20  # bins of confidence
NAMES = {
    "total": ("Total loss", "the weighted sum that training minimises"),
    "class": ("Loss on the labels", "cross-entropy on the nodes with a given label"),
    "kl": ("Clustering loss", "KL divergence to sharper clusters"),
    "pl": ("Pseudo-label loss", "cross-entropy on balanced pseudo-labels"),
    "val_accuracy": ("Validation accuracy", "on labels held out to choose the epoch"),
    "val_loss": ("Validation loss", "on the same nodes"),
    "moved": ("Labels that changed", "fraction of nodes, since the last check"),
}
LATE = ("kl", "pl")  # losses that start after the warm-up
HELD = ("moved",)  # measured every few epochs, and drawn as constant in between
LEFT_OUT = ("epoch", "seconds", "marginal_error")
MOST_POINTS = 600  # of a curve, as many as its pixels


@dataclass(frozen=True)
class Tile:
    """One key figure: its name, its value, and a caption of a few words."""

    name: str
    value: str
    caption: str = ""


def headline(data: ReportData) -> str:
    """The result in a sentence: "2,568 of 2,708 nodes labelled from 140 labels; mean confidence 0.83".

    Args:
        data: the report's data.

    Returns:
        The sentence, without a full stop.
    """
    given = int((data.given >= 0).sum())
    found = int(data.found.sum())
    text = f"{found:,} of {plural(len(data.given), 'node')} labelled from {plural(given, 'label')}"
    return f"{text}; mean confidence {data.confidence[data.found].mean():.2f}" if found else text


def tiles(data: ReportData) -> list[Tile]:
    """The key figures, most important first; unknown ones are left out.

    Args:
        data: the report's data.

    Returns:
        One tile per figure.
    """
    found = data.found
    made = [Tile("Nodes labelled", f"{found.sum():,}", f"of {plural(len(found), 'node')}")]
    made.append(
        Tile("Labels given", f"{(data.given >= 0).sum():,}", f"in {_present(data)} of {len(data.classes):,} classes")
    )
    if found.any():
        made.append(Tile("Mean confidence", f"{data.confidence[found].mean():.2f}", "of the predicted labels"))
    held = held_out(data)
    if held.any() and data.truth is not None:
        right = float((data.predicted[held] == data.truth[held]).mean())
        made.append(Tile("Accuracy", percentage(right), f"on {plural(int(held.sum()), 'held-out node')}"))
    if data.reliability is not None and data.reliability.bins:
        made.append(Tile("Calibration error", f"{data.reliability.error:.3f}", "0 is perfect"))
    if data.abstain is not None:
        made.append(
            Tile("Left unlabelled", f"{data.abstain.unlabelled:,}", f"confidence below {data.abstain.threshold:.2f}")
        )
    made.append(Tile("Training time", duration(data.seconds), _epochs(data)))
    return made


def summary_rows(data: ReportData) -> list[Tile]:
    """The properties of the graph, formatted.

    Args:
        data: the report's data.

    Returns:
        One tile per property.
    """
    return [Tile(str(name)[:1].upper() + str(name)[1:], number(value)) for name, value in data.summary_rows]


def held_out(data: ReportData) -> np.ndarray:
    """The nodes that accuracy is measured on: labelled by the model, with a known label that was not trained on.

    Args:
        data: the report's data.

    Returns:
        (n,) whether a node is one of them.
    """
    return data.found & (data.truth >= 0) if data.truth is not None else np.zeros(len(data.given), dtype=bool)


def label_counts(data: ReportData) -> list[int]:
    """The number of nodes with each label, given or predicted.

    Args:
        data: the report's data.

    Returns:
        K counts.
    """
    labels = data.labels
    counts: list[int] = np.bincount(labels[labels >= 0], minlength=len(data.classes)).tolist()
    return counts


def class_shares(data: ReportData) -> dict[str, Any]:
    """Counts of given and of predicted labels of each class, the most frequent classes first.

    Args:
        data: the report's data.

    Returns:
        What the page's script reads: class numbers, both counts of each, and totals.
    """
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
    """The number of nodes without a given label in each of 20 bins of confidence.

    Args:
        data: the report's data.

    Returns:
        The counts, and the threshold below which the model abstains; None if every label was given.
    """
    open_nodes = data.given < 0
    if not open_nodes.any():
        return None
    place = (data.confidence[open_nodes] * HISTOGRAM + 1e-9).astype(np.int64)  # 0.7 · 20 is a little less than 14
    counts = np.bincount(place.clip(0, HISTOGRAM - 1), minlength=HISTOGRAM)
    return {"counts": counts.tolist(), "threshold": None if data.abstain is None else data.abstain.threshold}


def confusion(data: ReportData) -> dict[str, Any] | None:
    """True class by predicted class over the held-out nodes.

    Of more than 15 classes, the 14 most frequent have a row and column each, and the others one together.

    Args:
        data: the report's data.

    Returns:
        Names, counts, row fractions and recall of each row, and the most frequent mistakes; None without held-out
        nodes.
    """
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
    right = truth == found  # a mistake among the other classes is one too, though row and column are the same
    names = [shortened(data.classes[i]) for i in shown] + [f"{k - len(shown):,} others"] * (size - len(shown))
    return {
        "names": names,
        "rows": counts.tolist(),
        "shares": (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).round(3).tolist(),
        "recall": [
            percentage(float(right[place[truth] == row].mean())) if total else "–"
            for row, total in enumerate(counts.sum(1))
        ],
        "nodes": int(held.sum()),
        "right": int(right.sum()),
        "folded": k - len(shown),
        "mistakes": _mistakes(data, truth, found),
    }


def training_curves(data: ReportData) -> dict[str, Any] | None:
    """The training curves, in the order they are drawn.

    Args:
        data: the report's data.

    Returns:
        The epochs, the end of the warm-up, the best epoch and the curves; None without a number to draw.
    """
    columns = {name: [_finite(value) for value in values] for name, values in data.history.items()}
    columns |= {name: _held(columns[name]) for name in HELD if name in columns}
    epochs = _epoch_numbers(columns)
    wanted = [name for name in NAMES if name in columns] + [name for name in columns if name not in {*NAMES, *LEFT_OUT}]
    drawn = [name for name in wanted if any(value is not None for value in columns[name])]
    if not drawn or not epochs:
        return None
    starts = [first for name in LATE if name in columns and (first := _first(columns[name])) is not None]
    kept = _kept(len(epochs))
    return {
        "epochs": [epochs[i] for i in kept],
        "warmup": epochs[min(starts)] if starts and min(starts) > 0 else None,
        "best": data.best_epoch,
        "curves": [
            {
                "title": NAMES.get(name, (name, ""))[0],
                "caption": NAMES.get(name, (name, ""))[1],
                "isFraction": name in ("val_accuracy", "moved"),
                "values": [columns[name][i] for i in kept],
            }
            for name in drawn
        ],
    }


def _mistakes(data: ReportData, truth: np.ndarray, found: np.ndarray) -> list[tuple[int, str, str]]:
    """(count, true class, predicted class) of the most frequent mistakes over all classes."""
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


def _epoch_numbers(columns: dict[str, list[float | None]]) -> list[float]:
    counted: list[float] = [float(i + 1) for i in range(len(next(iter(columns.values()), [])))]
    given = columns.get("epoch", [])
    return (
        [count if value is None else value for count, value in zip(counted, given, strict=True)] if given else counted
    )


def _kept(count: int) -> list[int]:
    """Which epochs are drawn: all, or every second, third, ..., and always the last.

    >>> _kept(3), _kept(1500)[-2:]
    ([0, 1, 2], [1497, 1499])
    """
    return sorted({*range(0, count, math.ceil(count / MOST_POINTS)), count - 1})


def _first(values: Sequence[float | None]) -> int | None:
    return next((i for i, value in enumerate(values) if value is not None), None)


def _held(values: Sequence[float | None]) -> list[float | None]:
    """
    >>> _held([None, 0.2, None, None, 0.1, None])
    [None, 0.2, 0.2, 0.2, 0.1, 0.1]
    """
    held: list[float | None] = []
    for value in values:
        held.append(value if value is not None or not held else held[-1])
    return held


def _finite(value: float | None) -> float | None:
    """Five significant figures: more than a screen shows, and half the file."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.5g}")
