"""Accuracy against seconds of training on random splits: each backbone plain and as NCGC, and other methods."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ncgc_bench.figures.direct_labels import label_points
from ncgc_bench.figures.lookup import accuracy_of, covered, gather, runs_in_words
from ncgc_bench.figures.style import DATASET_NAMES, INK, MARKERS, OTHER_NAMES, PALETTE, QUIET, panels
from ncgc_bench.plans import BACKBONE_NAMES, DATASETS, OTHERS, table_plan
from ncgc_bench.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
Method = tuple[str | None, str]  # backbone, variant


@dataclass(frozen=True)
class Spot:
    """Mean seconds and mean test accuracy in percent."""

    seconds: float
    accuracy: float


def draw_speed(store: Store, settings: str) -> dict[str, Figure]:
    """Draw accuracy against seconds on random splits, one panel per data set.

    Args:
        store: the stored runs.
        settings: name of the settings.

    Returns:
        File name → figure: one, or none without runs.
    """
    plan = [
        entry
        for backbone, datasets in covered(settings).items()
        for entry in table_plan(datasets, (backbone,), "random", settings=settings, others=OTHERS)
    ]
    cells = gather(plan, store, lambda entry: (entry.dataset, (entry.backbone, entry.variant)))
    spots: dict[str, dict[Method, Spot]] = {}
    for (dataset, method), records in cells.items():
        taken = float(np.mean([record["seconds"] for record in records.values()]))
        spots.setdefault(dataset, {})[method] = Spot(max(taken, 1e-3), accuracy_of(records).mean)
    datasets = [name for name in DATASETS if name in spots]
    if not datasets:
        return {}
    about = f"Means over {runs_in_words(cells.values())} on random splits{_threads(cells)}. "
    about += "Filled: NCGC. Open, joined to it: the same backbone alone."
    names = [DATASET_NAMES[name] for name in datasets]
    figure, places = panels(names, _title(spots), about, height=2.6, columns=COLUMNS)
    for number, (place, name) in enumerate(zip(places, datasets, strict=True)):
        _panel(place, spots[name])
        if number % COLUMNS == 0:
            place.set_ylabel("test accuracy, %")
    figure.supxlabel("seconds of one training", fontsize=8.5, color=QUIET)
    for place, name in zip(places, datasets, strict=True):
        _label(place, spots[name])
    return {"speed": figure}


def _threads(cells: dict[Any, dict[int, dict[str, Any]]]) -> str:
    counts = {record.get("threads") for records in cells.values() for record in records.values()}
    return ", on one CPU thread" if counts == {1} else ""


def _title(spots: dict[str, dict[Method, Spot]]) -> str:
    pairs = [
        (own[backbone, "plain"], spot)
        for own in spots.values()
        for (backbone, variant), spot in own.items()
        if variant != "plain" and (backbone, "plain") in own
    ]
    if not pairs:
        return "Accuracy against seconds"
    cost = float(np.exp(np.mean([np.log(ncgc.seconds / plain.seconds) for plain, ncgc in pairs])))
    gain = float(np.mean([ncgc.accuracy - plain.accuracy for plain, ncgc in pairs]))
    return f"NCGC takes {cost:.1f} times its backbone's seconds and changes accuracy by {gain:+.1f} points on average"


def _panel(axes: Axes, spots: dict[Method, Spot]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    axes.set_xscale("log")
    _frame(axes, spots)
    for (backbone, variant), spot in spots.items():
        if backbone is None:
            continue
        colour, plain = PALETTE[backbone], spots.get((backbone, "plain"))
        if variant != "plain" and plain is not None:
            axes.plot(
                [plain.seconds, spot.seconds], [plain.accuracy, spot.accuracy], color=colour, linewidth=0.8, alpha=0.6
            )
        fill = "white" if variant == "plain" else colour
        axes.plot([spot.seconds], [spot.accuracy], color=colour, marker=MARKERS[backbone], markersize=6, markerfacecolor=fill,
                  linewidth=0, label=f"{backbone} {variant}")  # fmt: skip
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1, 3) if high / low < 300 else (1,), numticks=6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


def _frame(axes: Axes, spots: dict[Method, Spot]) -> None:
    """Limits from the backbones, with room for names; a method far outside must not press them into a corner."""
    own = [spot for (backbone, _), spot in spots.items() if backbone is not None] or list(spots.values())
    times, accuracies = np.log([spot.seconds for spot in own]), [spot.accuracy for spot in own]
    centre, half = (times.min() + times.max()) / 2, max(float(np.ptp(times)) * 0.85, 1.6)
    axes.set_xlim(float(np.exp(centre - half)), float(np.exp(centre + half)))
    tall = max(max(accuracies) - min(accuracies), 1.0)
    axes.set_ylim(min(accuracies) - 0.35 * tall, max(accuracies) + 0.2 * tall)


def _label(axes: Axes, spots: dict[Method, Spot]) -> None:
    """Name every backbone at its NCGC point (or its only one), and every other method, with its values if outside."""
    points = Counter(backbone for backbone, _ in spots)
    named, others = [], []
    for (backbone, variant), spot in spots.items():
        place = (spot.seconds, spot.accuracy)
        if backbone is None:
            named.append(_other(axes, variant, spot))
        elif variant != "plain" or points[backbone] == 1:
            named.append((*place, BACKBONE_NAMES[backbone], PALETTE[backbone]))
        else:
            others.append(place)
    label_points(axes, named, others)


def _other(axes: Axes, method: str, spot: Spot) -> tuple[float, float, str, str]:
    """A star where the method is, or an arrow at the edge nearest to it."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    inside = left <= spot.seconds <= right and low <= spot.accuracy <= high
    name = OTHER_NAMES.get(method, method)
    if not inside:
        name += f"\n{spot.accuracy:.1f} % in {spot.seconds:.2g} s"
    margin_x, margin_y = (right / left) ** 0.04, 0.07 * (high - low)
    x = min(max(spot.seconds, left * margin_x), right / margin_x)
    y = min(max(spot.accuracy, low + margin_y), high - margin_y)
    marker = "*" if inside else "<" if spot.accuracy >= low else "v"
    axes.plot([x], [y], color=INK, marker=marker, markersize=6, linewidth=0, label=method)
    return x, y, name, INK
