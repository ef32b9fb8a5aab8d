"""What each part of the method is worth: accuracy without it minus accuracy with all, on the same splits and seeds.

The bar is the mean of the paired differences d_s = a_s(without) - a_s(full) over the seeds s, its whisker the 95 %
interval of that mean, ± t₀.₉₇₅(n - 1)·sd(d)/√n. Runs that lack their counterpart are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ncgc_bench.figures.lookup import covered, gather, runs_in_words
from ncgc_bench.figures.style import ACCENT, DATASET_NAMES, INK, PAPER, QUIET, panels
from ncgc_bench.plans import ABLATION, BACKBONE_NAMES, ablation_plan
from ncgc_bench.published import published
from ncgc_bench.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = tuple(name for name, changes in ABLATION.items() if changes)
TAKEN_OUT = {
    "no soft orthogonality": "soft orthogonality", "no KL": "the clustering loss (KL)", "no PL": "the pseudo-label loss (PL)",
    "no Sinkhorn": "Sinkhorn's balance",
}  # fmt: skip
WIDEST = 12.0  # points to either side; what lies beyond is an arrow with its value


@dataclass(frozen=True)
class Difference:
    """Mean of paired differences in points, and half the width of its 95 % interval (None from one pair)."""

    mean: float
    half: float | None

    @classmethod
    def of(cls, without: dict[int, dict[str, Any]], full: dict[int, dict[str, Any]]) -> Difference | None:
        """The difference of two cells on the seeds that both have.

        Args:
            without: seed → record, with a part taken out.
            full: seed → record of the full method.

        Returns:
            The difference; None where no seed is in both.

        >>> Difference.of({0: {"test_accuracy": 0.8}}, {0: {"test_accuracy": 0.75}, 1: {"test_accuracy": 0.1}}).mean
        5.0
        """
        seeds = sorted(without.keys() & full.keys())
        if not seeds:
            return None
        pairs = [100 * (without[seed]["test_accuracy"] - full[seed]["test_accuracy"]) for seed in seeds]
        half = None
        if len(pairs) > 1:
            from scipy.stats import t

            half = float(t.ppf(0.975, len(pairs) - 1) * np.std(pairs, ddof=1) / np.sqrt(len(pairs)))
        return cls(round(float(np.mean(pairs)), 10), half)


def draw_ablations(store: Store, settings: str) -> dict[str, Figure]:
    """Draw what each part is worth, one figure per backbone.

    Args:
        store: the stored runs.
        settings: name of the settings.

    Returns:
        File name → figure, of the backbones with any pair of runs.
    """
    figures = {}
    for backbone, datasets in covered(settings).items():
        plan = ablation_plan(datasets, (backbone,), settings=settings)
        cells = gather(plan, store, lambda e: (e.dataset, e.variant))
        full = gather((e for e in plan if e.reference), store, lambda e: e.dataset)
        differences = {
            (name, part): found
            for name in datasets
            for part in PARTS
            if (name, part) in cells and name in full
            if (found := Difference.of(cells[name, part], full[name])) is not None
        }
        # the plain backbone alone belongs to the table: an ablation takes out one part
        wide = [name for name in datasets if any((name, part) in differences for part in PARTS if part != "plain")]
        if wide:
            used = [records for (name, _), records in cells.items() if name in wide]
            figures[f"ablation-{backbone}"] = _draw(backbone, wide, differences, runs_in_words(used))
    return figures


def _draw(backbone: str, datasets: list[str], differences: dict[tuple[str, str], Difference], runs: str) -> Figure:
    # the paper's ablation has no row for the plain backbone; its table's is another training with other settings
    papers = {
        (name, part): without[0] - full[0]
        for name in datasets
        for part in PARTS
        if (without := published("ablation", name, backbone, part))
        and (full := published("ablation", name, backbone, "ncgc"))
    }
    about = f"Test accuracy minus that of the full method, in points. Bars: mean over {runs} on the same splits, with 95 % interval."
    about += " Circles: the paper." if papers else ""
    names = [DATASET_NAMES[name] for name in datasets]
    figure, places = panels(names, _title(backbone, differences), about, height=1.75)
    shown = {key: d for key, d in differences.items() if key[0] in datasets}
    reach = [d.mean + sign * (d.half or 0) for d in shown.values() for sign in (-1, 1)]
    reach += [value for value in papers.values() if abs(value) <= WIDEST]
    low, high = max(min(*reach, -0.5), -WIDEST), min(max(*reach, 0.5), WIDEST)
    room = 0.06 * (high - low)
    for number, (place, name) in enumerate(zip(places, datasets, strict=True)):
        _panel(place, name, differences, papers, named=number % 4 == 0)
        place.set_xlim(low - room, high + room)
        _mark_outliers(place, name, differences, papers, low, high)
    figure.supxlabel("difference in points; left of 0: the part helps", fontsize=8.5, color=QUIET)
    return figure


def _title(backbone: str, differences: dict[tuple[str, str], Difference]) -> str:
    means = {}
    for part in PARTS:
        own = [d.mean for (_, name), d in differences.items() if name == part]
        if own and part != "plain":
            means[part] = float(np.mean(own))
    worst = min(means, key=lambda part: means[part])
    name = BACKBONE_NAMES[backbone]
    if means[worst] >= 0:
        return f"{name}: without any one part, accuracy is no lower on average"
    return f"{name}: {TAKEN_OUT.get(worst, worst)} is missed most, {-means[worst]:.1f} points on average"


def _panel(
    axes: Axes,
    dataset: str,
    differences: dict[tuple[str, str], Difference],
    papers: dict[tuple[str, str], float],
    named: bool,
) -> None:
    from matplotlib.ticker import MaxNLocator

    for row, part in enumerate(PARTS):
        found, paper = differences.get((dataset, part)), papers.get((dataset, part))
        if found is not None:
            axes.barh(row, found.mean, height=0.55, color=ACCENT if found.mean < 0 else "#99C9E3", label=part)
            if found.half is not None:
                axes.errorbar(found.mean, row, xerr=found.half, color=INK, linewidth=1, capsize=2)
        if paper is not None:
            axes.plot([paper], [row], marker="o", markersize=4.5, markerfacecolor="white", color=PAPER, linewidth=0)
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.set_ylim(len(PARTS) - 0.5, -0.5)
    axes.set_yticks(range(len(PARTS)), PARTS if named else [""] * len(PARTS))
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))


def _mark_outliers(
    axes: Axes,
    dataset: str,
    differences: dict[tuple[str, str], Difference],
    papers: dict[tuple[str, str], float],
    low: float,
    high: float,
) -> None:
    """What lies outside the panel, as an arrow at its edge with the value in points."""
    for row, part in enumerate(PARTS):
        found, paper = differences.get((dataset, part)), papers.get((dataset, part))
        for value, colour in ((None if found is None else found.mean, ACCENT), (paper, PAPER)):
            if value is None or low <= value <= high:
                continue
            edge, sign = (low, "◂") if value < low else (high, "▸")
            text = f"{sign} {value:.0f}" if value < low else f"{value:.0f} {sign}"
            across = "left" if value < low else "right"
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
            axes.text(edge, row, text, ha=across, va="center", fontsize=7, color=colour, bbox=box)
