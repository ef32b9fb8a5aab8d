"""The leaderboard: a ranking of all methods, NCGC's wins and losses, and our results beside the authors' own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ncgc_bench.plans import BACKBONE_NAMES, VARIANT_NAMES
from ncgc_bench.published import authors_figure
from ncgc_bench.render import Table
from ncgc_bench.store import Store
from ncgc_bench.summary import Cell, Grid, Row, difference, grid, student_interval
from ncgc_bench.tables import Experiment, cell_text, difference_text


def ranking(experiment: Experiment, store: Store) -> Table:
    """Test accuracy of each method, the best mean over the data sets first; its seconds and its memory.

    Seconds are the mean over the data sets, memory the largest. A method that lacks a data set, or runs on it, has no
    mean; it is ranked by its distance to the best complete method on the data sets it has.

    Args:
        experiment: the plan.
        store: the stored runs.

    Returns:
        One row per method, one column per data set.
    """
    accuracy, seconds, memory = (
        grid(experiment.entries, store, quantity) for quantity in ("test_accuracy", "seconds", "peak_mib")
    )
    means = {row: _mean(accuracy, row) for row in accuracy.rows}
    complete = [row for row in accuracy.rows if not math.isnan(means[row])]
    compared = [max(complete, key=lambda row: means[row])] if complete else list(accuracy.rows)
    rows = []
    for row in sorted(accuracy.rows, key=lambda row: -_lead(accuracy, row, compared)):
        cells = [cell_text(cell) for cell in accuracy.row(row)]
        if not any(cells):
            continue
        times = [cell.mean for cell in seconds.row(row) if cell.values]
        peaks = [cell.mean for cell in memory.row(row) if cell.values]
        mean = "" if math.isnan(means[row]) else f"{means[row]:.1f}"
        rows.append((title(row), *cells, mean, f"{sum(times) / len(times):.1f}", f"{max(peaks):.0f}"))
    entry = experiment.entries[0]
    about = (
        f"Test accuracy in per cent, mean ± standard deviation (split {entry.split}), seconds of a training, peak MiB"
    )
    return Table(about, ("method", *accuracy.columns, "mean", "s", "MiB"), tuple(rows))


def standings(experiment: Experiment, store: Store) -> Table | None:
    """The reference minus each method on the same splits, with the data sets won, lost and open.

    A data set is won where the interval is above 0, and lost where it is below.

    The interval is Student's: it keeps its confidence with five pairs, where the bootstrap's is too short to speak of a
    win.

    Args:
        experiment: the plan; its first reference is compared with all other rows.
        store: the stored runs.

    Returns:
        One row per method, the nearest to the reference first; None without a reference or without a pair.
    """
    accuracy = grid(experiment.entries, store)
    if not accuracy.references:
        return None
    reference = accuracy.references[0]
    rows = []
    for row in accuracy.rows:
        found = [
            difference(one, other, student_interval)
            for one, other in zip(accuracy.row(reference), accuracy.row(row), strict=True)
        ]
        pairs = [pair for pair in found if pair is not None]
        if row == reference or not pairs:
            continue
        won, lost = sum(pair.low > 0 for pair in pairs), sum(pair.high < 0 for pair in pairs)
        gap = sum(pair.mean for pair in pairs) / len(pairs)
        words = ["" if pair is None else difference_text(pair) for pair in found]
        rows.append((gap, (title(row), *words, str(won), str(lost), str(len(pairs) - won - lost))))
    if not rows:
        return None
    rows.sort(key=lambda pair: pair[0])
    head = ("method", *accuracy.columns, "won", "lost", "open")
    about = (
        f"{title(reference)} minus each method on the same splits and seeds, mean [95 % interval]; the nearest first"
    )
    return Table(about, head, tuple(words for _, words in rows))


def beside_authors(experiment: Experiment, store: Store) -> Table | None:
    """Our mean beside the authors' own, for the methods whose authors report this split.

    Args:
        experiment: the plan.
        store: the stored runs.

    Returns:
        One row per method, each cell with the gap between the two; None where no author reports this split.
    """
    accuracy = grid(experiment.entries, store)
    split = experiment.entries[0].split
    rows = []
    for row in accuracy.rows:
        found = {column: authors_figure(split, column, row[1]) for column in accuracy.columns if row[0] == ""}
        if any(figure is not None and accuracy.at(row, column).values for column, figure in found.items()):
            cells = [_beside(accuracy.at(row, column), found[column]) for column in accuracy.columns]
            rows.append((title(row), *cells))
    if not rows:
        return None
    about = f"Ours / the authors' own test accuracy in per cent (gap), split {split}"
    return Table(about, ("method", *accuracy.columns), tuple(rows))


def title(row: Row) -> str:
    """The name of a row, as papers write it.

    Args:
        row: backbone ("" for none) and variant or method.

    Returns:
        The name.

    >>> title(("appnp", "ncgc")), title(("gcn", "plain")), title(("", "gprgnn"))
    ('NCGC (APPNP)', 'plain (GCN)', 'GPR-GNN')
    """
    from ncgc.models.registry import find_classifier  # imports torch

    backbone, variant = row
    if not backbone:
        return find_classifier(variant).title
    return f"{VARIANT_NAMES.get(variant, variant)} ({BACKBONE_NAMES.get(backbone, backbone)})"


def _mean(accuracy: Grid, row: Row) -> float:
    """Over all data sets; NaN where runs are missing."""
    cells = accuracy.row(row)
    return sum(cell.mean for cell in cells) / len(cells) if all(cell.complete for cell in cells) else math.nan


def _lead(accuracy: Grid, row: Row, others: Sequence[Row]) -> float:
    """How far a row is above the mean of others, on the data sets that it has; -inf without any."""
    leads = []
    for column in accuracy.columns:
        level = [accuracy.at(other, column).mean for other in others if accuracy.at(other, column).values]
        if accuracy.at(row, column).values and level:
            leads.append(accuracy.at(row, column).mean - sum(level) / len(level))
    return sum(leads) / len(leads) if leads else -math.inf


def _beside(cell: Cell, figure: float | None) -> str:
    """
    >>> _beside(Cell({0: 81.0, 1: 82.0}, 2, 2), 81.7)
    '81.5 / 81.7 (−0.2)'
    """
    if figure is None or not cell.values:
        return ""
    gap = f"{cell.mean - figure:+.1f}".replace("-", "−")
    return f"{cell.mean:.1f} / {figure:.1f} ({gap})" + ("" if cell.complete else f" ({cell.done}/{cell.planned})")
