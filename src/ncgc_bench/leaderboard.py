"""The leaderboard: NCGC and every other method in one ranking, what NCGC wins and loses, and how near each is to its authors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ncgc_bench.published import authors_figure
from ncgc_bench.render import Table
from ncgc_bench.store import Store
from ncgc_bench.summary import Difference, Figures, Grid, Row, difference, grid, student_interval
from ncgc_bench.tables import Experiment, cell_text, difference_text

BACKBONES = {"gcn": "GCN", "gat": "GAT", "sage": "GraphSAGE", "gcnii": "GCNII", "appnp": "APPNP"}


def ranking(experiment: Experiment, store: Store) -> Table:
    """Test accuracy of each method, the best mean over the data sets first; its seconds and its memory.

    Seconds are the mean of a training over the data sets, memory the largest of them. A method that lacks a data set, or runs
    on it, has no mean; it stands where its cells are, measured from the best complete method on the same data sets.
    """
    accuracy, seconds, memory = (
        grid(experiment.entries, store, quantity) for quantity in ("test_accuracy", "seconds", "peak_mib")
    )
    means = {row: _mean(accuracy, row) for row in accuracy.rows}
    complete = [row for row in accuracy.rows if not math.isnan(means[row])]
    compared = [max(complete, key=lambda row: means[row])] if complete else list(accuracy.rows)
    rows = []
    for row in sorted(accuracy.rows, key=lambda row: -_lead(accuracy, row, compared)):
        cells = [cell_text(accuracy.at(row, column)) for column in accuracy.columns]
        if not any(cells):
            continue
        times = [seconds.at(row, column).mean for column in accuracy.columns if seconds.at(row, column).values]
        peaks = [memory.at(row, column).mean for column in accuracy.columns if memory.at(row, column).values]
        mean = "" if math.isnan(means[row]) else f"{means[row]:.1f}"
        rows.append((title(row), *cells, mean, f"{sum(times) / len(times):.1f}", f"{max(peaks):.0f}"))
    entry = experiment.entries[0]
    about = (
        f"Test accuracy in per cent, mean ± standard deviation (split {entry.split}), seconds of a training, peak MiB"
    )
    return Table(about, ("method", *accuracy.columns, "mean", "s", "MiB"), tuple(rows))


def standings(experiment: Experiment, store: Store) -> Table | None:
    """NCGC minus each method on the same splits, and on how many data sets the interval is above 0 and below it.

    A word such as *won* wants an interval that keeps its promise with five pairs: Student's.
    """
    figures = grid(experiment.entries, store)
    ours = next((row for row in figures.rows if row[1] == "ncgc"), None)
    if ours is None:
        return None
    rows = []
    for row in figures.rows:
        found = [
            difference(figures.at(ours, column), figures.at(row, column), student_interval)
            for column in figures.columns
        ]
        pairs = [pair for pair in found if pair is not None]
        if row == ours or not pairs:
            continue
        won, lost = sum(pair.low > 0 for pair in pairs), sum(pair.high < 0 for pair in pairs)
        gap = sum(pair.mean for pair in pairs) / len(pairs)
        words = [_words(pair) for pair in found]
        rows.append((gap, (title(row), *words, str(won), str(lost), str(len(pairs) - won - lost))))
    if not rows:
        return None
    rows.sort(key=lambda pair: pair[0])
    head = ("method", *figures.columns, "won", "lost", "open")
    about = f"{title(ours)} minus each method on the same splits and seeds, mean [95 % interval]; the nearest first"
    return Table(about, head, tuple(words for _, words in rows))


def beside_authors(experiment: Experiment, store: Store) -> Table | None:
    """Our mean, the authors' own figure and the gap, for the methods whose authors report this split."""
    figures = grid(experiment.entries, store)
    split = experiment.entries[0].split
    rows = []
    for row in figures.rows:
        found = {column: authors_figure(split, column, row[1]) for column in figures.columns if row[0] == ""}
        if any(figure is not None and figures.at(row, column).values for column, figure in found.items()):
            cells = [_beside(figures.at(row, column), found[column]) for column in figures.columns]
            rows.append((title(row), *cells))
    if not rows:
        return None
    about = f"Ours / the authors' own test accuracy in per cent (gap), split {split}"
    return Table(about, ("method", *figures.columns), tuple(rows))


def title(row: Row) -> str:
    """The name of a row in the field.

    >>> title(("appnp", "ncgc")), title(("gcn", "plain")), title(("", "gprgnn"))
    ('NCGC (APPNP)', 'plain (GCN)', 'GPR-GNN')
    """
    from ncgc.models.registry import find_classifier  # torch comes with it

    backbone, variant = row
    if not backbone:
        return find_classifier(variant).title
    return f"{'NCGC' if variant == 'ncgc' else variant} ({BACKBONES.get(backbone, backbone)})"


def _mean(figures: Grid, row: Row) -> float:
    """Over all data sets; NaN where one is missing or has runs to come."""
    cells = [figures.at(row, column) for column in figures.columns]
    return sum(cell.mean for cell in cells) / len(cells) if all(cell.complete for cell in cells) else math.nan


def _lead(figures: Grid, row: Row, others: Sequence[Row]) -> float:
    """How far a row is above the mean of others, on the data sets that it has; -inf without any."""
    leads = []
    for column in figures.columns:
        level = [figures.at(other, column).mean for other in others if figures.at(other, column).values]
        if figures.at(row, column).values and level:
            leads.append(figures.at(row, column).mean - sum(level) / len(level))
    return sum(leads) / len(leads) if leads else -math.inf


def _words(pair: Difference | None) -> str:
    return "" if pair is None else difference_text(pair)


def _beside(cell: Figures, figure: float | None) -> str:
    """
    >>> _beside(Figures({0: 81.0, 1: 82.0}, 2, 2), 81.7)
    '81.5 / 81.7 (−0.2)'
    """
    if figure is None or not cell.values:
        return ""
    gap = f"{cell.mean - figure:+.1f}".replace("-", "−")
    return f"{cell.mean:.1f} / {figure:.1f} ({gap})" + ("" if cell.complete else f" ({cell.done}/{cell.planned})")
