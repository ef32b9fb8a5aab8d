"""The leaderboard as a figure: mean test accuracy over the graphs against seconds of training, one point per method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ncgc_bench.figures.direct_labels import label_points
from ncgc_bench.figures.lookup import covered
from ncgc_bench.figures.style import FAMILY_PALETTE, QUIET, panels
from ncgc_bench.leaderboard import title
from ncgc_bench.plans import DATASETS, LEADERBOARD_BACKBONES, VARIANTS, leaderboard_plan
from ncgc_bench.store import Store
from ncgc_bench.summary import Grid, Row, grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 4.5  # points of accuracy below the best; what is further down stands at the lower edge with its number


@dataclass(frozen=True)
class Spot:
    """A method: its name, its family, mean seconds and mean test accuracy in per cent."""

    name: str
    family: str
    seconds: float
    accuracy: float


def draw_leaderboard(store: Store, settings: str) -> dict[str, Figure]:
    """Draw mean accuracy against mean seconds, one point per method.

    Args:
        store: the stored runs.
        settings: name of the settings.

    Returns:
        File name → figure: one, or none where no method has all its runs on all seven graphs.
    """
    own = covered(settings)
    backbones = tuple(name for name in LEADERBOARD_BACKBONES if own.get(name) == DATASETS)
    plan = leaderboard_plan(backbones=backbones, settings=settings, variants=VARIANTS)
    accuracy, seconds = grid(plan, store), grid(plan, store, "seconds")
    spots = []
    for row in accuracy.rows:
        cells = accuracy.row(row)
        if all(cell.complete for cell in cells):
            taken = np.mean([cell.mean for cell in seconds.row(row)])
            spots.append(
                Spot(
                    title(row),
                    _family(accuracy, row),
                    max(float(taken), 1e-3),
                    float(np.mean([cell.mean for cell in cells])),
                )
            )
    if not spots:
        return {}
    runs = accuracy.at(accuracy.rows[0], accuracy.columns[0]).planned
    about = f"Means over {len(accuracy.columns)} graphs, {runs} random splits of each, twenty labels a class. "
    about += "Up and to the left is better. Triangles: below what is drawn."
    figure, (place,) = panels([""], _heading(spots), about, height=4.6)
    _panel(place, spots)
    return {"leaderboard": figure}


def _family(accuracy: Grid, row: Row) -> str:
    """A name of :data:`FAMILY_PALETTE`."""
    from ncgc.models.registry import find_classifier  # imports torch

    backbone, variant = row
    if not backbone:
        return find_classifier(variant).family
    return "ours" if row in accuracy.references else "our backbones, plain"


def _heading(spots: list[Spot]) -> str:
    """The most accurate, and the quickest within a point and a half of it."""
    best = max(spots, key=lambda spot: spot.accuracy)
    near = min((spot for spot in spots if spot.accuracy >= best.accuracy - 1.5), key=lambda spot: spot.seconds)
    words = f"{best.name} has the best mean, {best.accuracy:.1f} % in {best.seconds:.0f} s"
    return words if near is best else f"{words}; {near.name} is the quickest within 1.5 points, {near.seconds:.0f} s"


def _panel(axes: Axes, spots: list[Spot]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    times = [spot.seconds for spot in spots]
    top = max(spot.accuracy for spot in spots)
    lowest = max(min(spot.accuracy for spot in spots), top - SHOWN)
    tall = max(top - lowest, 1.0)
    # the quickest stands highest, so that no name runs into the next triangle
    below = sorted((spot for spot in spots if spot.accuracy < lowest), key=lambda spot: -spot.seconds)
    step = 0.045 * tall
    floor = lowest - step * (len(below) + 1)
    axes.set_xscale("log")
    axes.set_xlim(min(times) / 1.6, max(times) * 2.4)  # names stand to the right of their dots
    axes.set_ylim(floor, top + 0.06 * tall)
    named = []
    for spot in sorted(spots, key=lambda spot: -spot.accuracy):
        out = spot in below
        y = floor + step * (below.index(spot) + 0.7) if out else spot.accuracy
        colour = FAMILY_PALETTE[spot.family]
        axes.plot([spot.seconds], [y], color=colour, marker="v" if out else "o", linewidth=0, label=spot.name,
                  markersize=8 if spot.family == "ours" else 6)  # fmt: skip
        named.append((spot.seconds, y, spot.name + (f" {spot.accuracy:.0f} %" if out else ""), colour))
    axes.set_ylabel("mean test accuracy, %")
    axes.set_xlabel("mean seconds of a training")
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1, 3), numticks=12))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    _legend(axes, [spot.family for spot in spots])
    label_points(axes, named, [])


def _legend(axes: Axes, families: list[str]) -> None:
    from matplotlib.lines import Line2D

    present = [name for name in FAMILY_PALETTE if name in families]
    handles = [Line2D([], [], color=FAMILY_PALETTE[name], marker="o", linewidth=0, label=name) for name in present]
    axes.legend(
        handles=handles, loc="upper left", frameon=False, fontsize=8, labelcolor=QUIET, handletextpad=0.2
    ).set_zorder(0)
