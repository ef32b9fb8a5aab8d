"""Labels without a legend: at the ends of lines and next to points, moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = 8.0
# where a label may stand beside its point: offset in points and alignment, the best first
_PLACES = (
    (6, 0, "left", "center"), (-6, 0, "right", "center"), (0, 6, "center", "bottom"), (0, -6, "center", "top"),
    (5, 5, "left", "bottom"), (-5, 5, "right", "bottom"), (5, -5, "left", "top"), (-5, -5, "right", "top"),
    (5, 13, "left", "bottom"), (-5, 13, "right", "bottom"), (5, -13, "left", "top"), (-5, -13, "right", "top"),
)  # fmt: skip


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places at least ``gap`` apart, in order, near the wanted ones and between low and high where they fit.

    Wanted places that collide form a block around their mean; blocks that collide are joined (pool adjacent violators).

    Args:
        wanted: the ideal places.
        gap: least distance of two.
        low: lower bound.
        high: upper bound.

    Returns:
        A place for each wanted one.

    >>> spread([1.0, 1.0, 9.0], 2.0, 0.0, 10.0)
    [0.0, 2.0, 9.0]
    """
    order = np.argsort(wanted, kind="stable")
    blocks: list[list[float]] = []  # of each: the sum of its members' wanted starts, and their number
    for value in (float(wanted[i]) for i in order):
        blocks.append([value, 1])
        while len(blocks) > 1 and _start(blocks[-2], gap, low, high) + gap * blocks[-2][1] > _start(
            blocks[-1], gap, low, high
        ):
            total, count = blocks.pop()
            blocks[-1][0] += total - gap * blocks[-1][1] * count
            blocks[-1][1] += count
    places = [_start(block, gap, low, high) + gap * i for block in blocks for i in range(int(block[1]))]
    return [places[int(np.flatnonzero(order == i)[0])] for i in range(len(wanted))]


def _start(block: Sequence[float], gap: float, low: float, high: float) -> float:
    total, count = block
    return max(low, min(total / count, high - gap * (count - 1)))


def label_ends(axes: Axes, x: float, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Write a name at each line's end, with a hairline to the line where the name is moved.

    Args:
        axes: the panel.
        x: where the column of names begins.
        ends: (x, y, name, colour) of each line's last point.
    """
    figure = settled(axes)
    low, high = axes.get_ylim()
    gap = (high - low) * SIZE * 1.25 * figure.dpi / 72 / axes.get_window_extent().height
    places = spread([end[1] for end in ends], gap, low + gap / 2, high - gap / 2)
    for (end, value, name, colour), place in zip(ends, places, strict=True):
        hair = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3, "relpos": (0, 0.5)}
        axes.annotate(name, (end, value), (x, place), color=colour, fontsize=SIZE, va="center", arrowprops=hair)


def label_points(
    axes: Axes, named: Sequence[tuple[float, float, str, str]], others: Sequence[tuple[float, float]]
) -> None:
    """Write a name beside each point, where it covers least of other names and points.

    Args:
        axes: the panel.
        named: (x, y, name, colour) of each point with a name.
        others: (x, y) of points without one.
    """
    figure = settled(axes)
    renderer, frame = figure.canvas.get_renderer(), axes.get_window_extent()
    points = [axes.transData.transform(point) for point in [(x, y) for x, y, *_ in named] + list(others)]
    half = 4 * figure.dpi / 72
    taken = [np.array([px - half, py - half, px + half, py + half]) for px, py in points]
    bounds = np.array([frame.x0, frame.y0, frame.x1, frame.y1])
    for x, y, name, colour in named:
        tried: list[tuple[float, int, Any, np.ndarray]] = []
        for dx, dy, across, along in _PLACES:
            text = axes.annotate(
                name, (x, y), (dx, dy), textcoords="offset points", ha=across, va=along, color=colour, fontsize=SIZE
            )
            box = np.array(text.get_window_extent(renderer).extents)
            outside = _area(box) - _overlap(box, bounds)
            tried.append((sum(_overlap(box, other) for other in taken) + 4 * outside, len(tried), text, box))
            if tried[-1][0] == 0:
                break
        best = min(tried)
        for entry in tried:
            if entry is not best:
                entry[2].remove()
        taken.append(best[3])


def settled(axes: Axes) -> Any:
    """Make the layout of a panel's figure final, so that lengths in pixels keep their meaning.

    Args:
        axes: the panel.

    Returns:
        Its figure.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure: Any = axes.figure
    if isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        figure.canvas.draw()
        figure.set_layout_engine("none")
    return figure


def _area(box: np.ndarray) -> float:
    return float((box[2] - box[0]) * (box[3] - box[1]))


def _overlap(one: np.ndarray, other: np.ndarray) -> float:
    across = min(one[2], other[2]) - max(one[0], other[0])
    along = min(one[3], other[3]) - max(one[1], other[1])
    return float(across * along) if across > 0 and along > 0 else 0.0
