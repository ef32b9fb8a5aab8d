"""Accuracy against labels per class, without validation labels: NCGC, its plain backbone, and label spreading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ncgc_bench.figures.direct_labels import label_ends
from ncgc_bench.figures.lookup import Summary, accuracy_of, covered, gather, runs_in_words
from ncgc_bench.figures.style import DATASET_NAMES, INK, OTHER_NAMES, PALETTE, QUIET, listed, panels
from ncgc_bench.plans import BACKBONE_NAMES, DATASETS, LABELS, VARIANT_NAMES, VARIANTS, labels_plan
from ncgc_bench.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Line = tuple[str | None, str]  # backbone, variant
Lines = dict[Line, dict[float, Summary]]
# variant → dashes and width of its line
STROKES: dict[str, tuple[Any, float]] = {"ncgc": ("-", 2.0), "plain": ((0, (4, 2)), 1.4)}
DOTTED: tuple[Any, float] = ((0, (1, 1.5)), 1.4)  # methods without a backbone


def draw_labels(store: Store, settings: str) -> dict[str, Figure]:
    """Draw accuracy against labels per class, one panel per data set.

    Args:
        store: the stored runs.
        settings: name of the settings.

    Returns:
        File name → figure: one, or none without runs.
    """
    plan = [
        entry
        for backbone, datasets in covered(settings).items()
        for entry in labels_plan(datasets, (backbone,), settings=settings)
    ]
    cells = gather(plan, store, lambda entry: (entry.dataset, (entry.backbone, entry.variant), float(entry.value or 0)))
    lines: dict[str, Lines] = {}
    for (dataset, line, count), records in cells.items():
        lines.setdefault(dataset, {}).setdefault(line, {})[count] = accuracy_of(records)
    datasets = [name for name in DATASETS if name in lines]
    if not datasets:
        return {}
    about = f"Test accuracy in %, mean over {runs_in_words(cells.values())}, band: ± one standard deviation."
    about += " Solid: NCGC. Dashed: the same backbone alone. No validation labels."
    names = [DATASET_NAMES[name] for name in datasets]
    figure, places = panels(names, _title(lines), about, height=2.9, columns=3)
    for place, name in zip(places, datasets, strict=True):
        _panel(place, lines[name])
    figure.supxlabel("labels per class", fontsize=8.5, color=QUIET)
    for place, name in zip(places, datasets, strict=True):
        ends = [(max(curve), curve[max(curve)].mean, _name(line), _colour(line)) for line, curve in lines[name].items()]
        label_ends(place, LABELS[-1] * 1.5, ends)
    return {"labels": figure}


def _title(lines: dict[str, Lines]) -> str:
    """What NCGC changes where labels are fewest."""
    fewest = min(count for own in lines.values() for curve in own.values() for count in curve)
    gains: dict[str, list[float]] = {}
    for own in lines.values():
        for backbone in BACKBONE_NAMES:
            full, plain = (own.get((backbone, variant), {}) for variant in VARIANTS)
            if fewest in full and fewest in plain:
                gains.setdefault(backbone, []).append(full[fewest].mean - plain[fewest].mean)
    if not gains:
        return "Accuracy against labels per class"
    words = listed([f"{BACKBONE_NAMES[name]} by {np.mean(values):+.1f}" for name, values in gains.items()])
    plural = "label" if fewest == 1 else "labels"
    return f"With {fewest:g} {plural} per class NCGC changes {words} points on average"


def _name(line: Line) -> str:
    backbone, variant = line
    if backbone is None:
        return OTHER_NAMES.get(variant, variant)
    return f"{BACKBONE_NAMES[backbone]} {VARIANT_NAMES.get(variant, variant)}"


def _colour(line: Line) -> str:
    return INK if line[0] is None else PALETTE[line[0]]


def _panel(axes: Axes, lines: Lines) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

    axes.set_xscale("log")
    for line, curve in lines.items():
        counts = sorted(curve)
        means = np.array([curve[count].mean for count in counts])
        around = np.array([curve[count].deviation for count in counts])
        dashes, width = STROKES.get(line[1], DOTTED)
        axes.fill_between(counts, means - around, means + around, color=_colour(line), alpha=0.07, linewidth=0)
        axes.plot(
            counts,
            means,
            color=_colour(line),
            linestyle=dashes,
            linewidth=width,
            marker="o",
            markersize=3,
            label=_name(line),
        )
    axes.set_xlim(LABELS[0] / 1.1, LABELS[-1] * 11)  # the names stand to the right of the last point
    axes.xaxis.set_major_locator(FixedLocator(LABELS))
    axes.xaxis.set_major_formatter(FixedFormatter([str(count) for count in LABELS]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.spines["bottom"].set_bounds(LABELS[0], LABELS[-1])
