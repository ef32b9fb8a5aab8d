"""Accuracy over β, ε or T: ours as a line with a band of ± one standard deviation, the paper's points as circles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ncgc_bench.figures.lookup import Cells, Summary, accuracy_of, covered, gather, runs_in_words
from ncgc_bench.figures.style import ACCENT, DATASET_NAMES, PAPER, panels
from ncgc_bench.plans import BACKBONE_NAMES, SWEEPS, sweep_plan
from ncgc_bench.published import published_curve
from ncgc_bench.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SYMBOLS = {"beta": "β", "epsilon": "ε", "sinkhorn_iterations": "T"}
FILES = {"beta": "beta", "epsilon": "epsilon", "sinkhorn_iterations": "iterations"}
AXES = {"beta": "β, strength of the soft orthogonality", "epsilon": "ε, entropy of the pseudo-labels",
        "sinkhorn_iterations": "T, rounds of Sinkhorn"}  # fmt: skip
TICKS = {"beta": (0.001, 0.004, 0.007, 0.01), "epsilon": (0.01, 0.1, 1.0), "sinkhorn_iterations": (1, 3, 10, 30)}
TALLEST = 12.0  # points of accuracy in a panel; what lies deeper is a triangle at the floor with its value


def draw_sweeps(store: Store, settings: str) -> dict[str, Figure]:
    """Draw accuracy over each swept parameter, one figure per parameter and backbone.

    Args:
        store: the stored runs.
        settings: name of the settings.

    Returns:
        File name → figure, of the sweeps with at least two values.
    """
    figures = {}
    for backbone, datasets in covered(settings).items():
        plan = sweep_plan(datasets, (backbone,), settings=settings)
        cells = gather(plan, store, lambda entry: (entry.variant, entry.dataset, entry.value))
        for parameter in SWEEPS:
            own = {key[1:]: records for key, records in cells.items() if key[0] == parameter}
            # one value alone is no sweep: it may be there as part of another plan
            wide = [name for name in datasets if sum(dataset == name for dataset, _ in own) > 1]
            own = {key: records for key, records in own.items() if key[0] in wide}
            if own:
                figures[f"sweep-{FILES[parameter]}-{backbone}"] = _draw(parameter, backbone, wide, own)
    return figures


def _draw(parameter: str, backbone: str, datasets: list[str], cells: Cells[Any]) -> Figure:
    curves = {
        name: {value: accuracy_of(records) for (dataset, value), records in cells.items() if dataset == name}
        for name in datasets
    }
    papers = {name: published_curve(parameter, name, backbone) for name in datasets}
    about = f"Test accuracy in %. Line: mean over {runs_in_words(cells.values())}, band: ± one standard deviation."
    about += " Circles: the paper." if any(papers.values()) else ""
    figure, places = panels([DATASET_NAMES[name] for name in datasets], _title(parameter, backbone, curves), about)
    for place, name in zip(places, datasets, strict=True):
        _panel(place, parameter, curves[name], papers[name])
    _name_curves(places[0], curves[datasets[0]], papers[datasets[0]])
    figure.supxlabel(AXES[parameter], fontsize=8.5, color=PAPER)
    return figure


def _title(parameter: str, backbone: str, curves: dict[str, dict[float, Summary]]) -> str:
    moves = {
        DATASET_NAMES[name]: max(s.mean for s in curve.values()) - min(s.mean for s in curve.values())
        for name, curve in curves.items()
    }
    least, most = min(moves, key=lambda name: moves[name]), max(moves, key=lambda name: moves[name])
    text = f"{BACKBONE_NAMES[backbone]}: from its worst to its best {SYMBOLS[parameter]}, accuracy moves by "
    if least == most:
        return f"{text}{moves[most]:.1f} points ({most})"
    return f"{text}{moves[least]:.1f} ({least}) to {moves[most]:.1f} points ({most})"


def _panel(
    axes: Axes, parameter: str, curve: dict[float, Summary], paper: tuple[list[float], list[float]] | None
) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

    values = sorted(curve)
    means = [curve[value].mean for value in values]
    axes.set_xscale("linear" if parameter == "beta" else "log")
    low = [curve[value].mean - curve[value].deviation for value in values]
    high = [curve[value].mean + curve[value].deviation for value in values]
    axes.fill_between(values, low, high, color=ACCENT, alpha=0.15, linewidth=0)
    axes.plot(values, means, color=ACCENT, linewidth=1.8, marker="o", markersize=3, label="ours")
    shown = low + high
    if paper is not None:
        axes.plot(*paper, color=PAPER, linewidth=0, marker="o", markersize=4.5, markerfacecolor="none", label="paper")
        shown = shown + paper[1]
    top = max(shown)
    floor = max(min(shown), top - TALLEST)
    room = max(0.08 * (top - floor), 0.2)
    axes.set_ylim(floor - room, top + room)
    for xs, ys, colour in ((values, means, ACCENT), (*(paper or ([], [])), PAPER)):
        _mark_outliers(axes, xs, ys, floor, colour)
    axes.xaxis.set_major_locator(FixedLocator(TICKS[parameter]))
    axes.xaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in TICKS[parameter]]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(5, min_n_ticks=3, steps=[1, 2, 5, 10]))


def _name_curves(axes: Axes, curve: dict[float, Summary], paper: tuple[list[float], list[float]] | None) -> None:
    """The words "ours" and "paper" in one panel, on the sides where the two do not meet."""
    value = sorted(curve)[len(curve) // 2]
    above = paper is None or curve[value].mean > paper[1][len(paper[1]) // 2]
    for word, x, y, colour, up in (
        ("ours", value, curve[value].mean + (1 if above else -1) * curve[value].deviation, ACCENT, above),
        *((("paper", paper[0][len(paper[0]) // 2], paper[1][len(paper[1]) // 2], PAPER, not above),) if paper else ()),
    ):
        along = "bottom" if up else "top"
        axes.annotate(
            word,
            (x, y),
            (0, 5 if up else -5),
            textcoords="offset points",
            ha="center",
            va=along,
            color=colour,
            fontsize=8,
        )


def _mark_outliers(axes: Axes, values: list[float], accuracies: list[float], floor: float, colour: str) -> None:
    """Points below the floor, as a triangle on it with the accuracy in whole percent."""
    for value, accuracy in zip(values, accuracies, strict=True):
        if accuracy < floor:
            axes.plot([value], [floor], marker="v", color=colour, markersize=4.5, linewidth=0)
            axes.annotate(
                f"{accuracy:.0f}", (value, floor), (0, 4), textcoords="offset points", ha="center", va="bottom",
                fontsize=7, color=colour,
            )  # fmt: skip
