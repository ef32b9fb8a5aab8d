"""The tables of an experiment: accuracy beside the paper's, paired differences, and notes on the runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ncgc.datasets.catalogue import family_of
from ncgc_bench.plans import Entry
from ncgc_bench.published import published
from ncgc_bench.render import Table
from ncgc_bench.store import Store
from ncgc_bench.summary import QUANTITIES, Cell, Difference, Grid, Row, contrasts, difference, grid


@dataclass(frozen=True)
class Experiment:
    """A plan with its name.

    Args:
        kind: the verb of `ncgc bench` that runs it.
        file: name of the file of the store that its records go to.
        entries: the plan.
    """

    kind: str
    file: str
    entries: Sequence[Entry]

    @property
    def paper_table(self) -> str | None:
        """Which of the paper's tables stands beside this one; the paper has tables for its own split alone."""
        names = {"table": "main", "ablation": "ablation"}
        return names.get(self.kind) if {entry.split for entry in self.entries} == {"paper"} else None


def main_table(experiment: Experiment, store: Store, quantity: str) -> Table:
    """Mean ± standard deviation of each cell, the paper's rows beneath ours.

    Several columns also have their mean, and studies the time of a row.

    Args:
        experiment: the plan.
        store: the stored runs.
        quantity: a name of `summary.QUANTITIES`.

    Returns:
        One row per backbone and variant, one column per data set.
    """
    cells = grid(experiment.entries, store, quantity)
    title, _, decimals = QUANTITIES[quantity]
    study = experiment.kind == "study"
    averaged = len(cells.columns) > 1 and experiment.kind != "labels"
    times = grid(experiment.entries, store, "seconds")
    rows = []
    for row in cells.rows:
        words = [cell_text(cell, decimals) for cell in cells.row(row)]
        if averaged:
            words.append(_number(sum(cell.mean for cell in cells.row(row)) / len(cells.columns), decimals + 1))
        if study:
            words.append(_number(sum(cell.mean for cell in times.row(row)), 0))
        rows.append((*row, *words))
        paper = _paper_row(experiment, cells, row, averaged) if quantity == "test_accuracy" else None
        rows += [paper] if paper else []
    head = ("backbone", "method", *cells.columns, *(["mean"] if averaged else []), *(["s"] if study else []))
    heading = f"{title}, mean ± standard deviation" + ("" if study else f" ({_setting(experiment)})")
    return _without_empty_backbone(Table(heading, head, tuple(rows), labels=2))


def _paper_row(experiment: Experiment, cells: Grid, row: Row, averaged: bool) -> tuple[str, ...] | None:
    table = experiment.paper_table
    found = [table and published(table, column, *row) for column in cells.columns]
    if not any(found):
        return None
    words = [f"{pair[0]:.1f} ± {pair[1]:.1f}" if pair else "" for pair in found]
    means = [pair[0] for pair in found if pair]
    whole = [_number(sum(means) / len(means), 2) if len(means) == len(found) else ""] if averaged else []
    return (row[0], f"{row[1]}, paper", *words, *whole)


def difference_table(experiment: Experiment, store: Store, quantity: str) -> Table | None:
    """Paired differences with their intervals.

    Args:
        experiment: the plan.
        store: the stored runs.
        quantity: a name of `summary.QUANTITIES`.

    Returns:
        One row per contrast; None where nothing is compared or no pair is stored.
    """
    cells = grid(experiment.entries, store, quantity)
    decimals = QUANTITIES[quantity].decimals
    study = experiment.kind == "study"
    rows = []
    for one, other in contrasts(cells):
        found = [difference(*pair) for pair in zip(cells.row(one), cells.row(other), strict=True)]
        if any(found):
            words = [difference_text(pair, decimals) if pair else "" for pair in found]
            rows.append((one[0], one[1] if study else f"{one[1]} − {other[1]}", *words))
    if not rows:
        return None
    to = f" to {cells.rows[0][1]!r}" if study else ""
    title = f"Paired differences{to} on the same splits and seeds, mean [95 % bootstrap interval]"
    return _without_empty_backbone(Table(title, ("backbone", "method", *cells.columns), tuple(rows), labels=2))


def records(experiment: Experiment, store: Store, quantity: str) -> list[dict[str, Any]]:
    """The numbers of both tables in full precision.

    Args:
        experiment: the plan.
        store: the stored runs.
        quantity: a name of `summary.QUANTITIES`.

    Returns:
        One record per cell, of kind "mean", and one per contrast and column, of kind "difference"; all have the same
        fields.
    """
    cells = grid(experiment.entries, store, quantity)
    first = {(entry.row, entry.column): entry for entry in reversed(experiment.entries)}
    found = []
    for (row, column), entry in sorted(
        first.items(), key=lambda item: (cells.rows.index(item[0][0]), cells.columns.index(item[0][1]))
    ):
        cell = cells.at(row, column)
        table = experiment.paper_table if quantity == "test_accuracy" else None
        paper = published(table, column, *row) if table else None
        found.append(
            {**_place("mean", quantity, entry, row), "mean": _or_none(cell.mean), "std": _or_none(cell.deviation)}
            | {"low": None, "high": None, "runs": len(cell.values), "planned": cell.planned}
            | {"paper_mean": paper and paper[0], "paper_std": paper and paper[1]}
        )
    for one, other in contrasts(cells):
        for column in cells.columns:
            pair = difference(cells.at(one, column), cells.at(other, column))
            if pair is not None:
                place = _place("difference", quantity, first[one, column], (one[0], f"{one[1]} - {other[1]}"))
                found.append(
                    {**place, "mean": pair.mean, "std": None, "low": _or_none(pair.low), "high": _or_none(pair.high)}
                    | {"runs": pair.pairs, "planned": pair.planned, "paper_mean": None, "paper_std": None}
                )
    return found


def _place(kind: str, quantity: str, entry: Entry, row: Row) -> dict[str, Any]:
    return {
        "kind": kind,
        "quantity": quantity,
        "backbone": row[0],
        "method": row[1],
        "dataset": entry.dataset,
        "split": entry.split,
        "labels_per_class": entry.run.dataset.labels_per_class,
        "value": None if entry.run.dataset.labels_per_class is not None else entry.value,  # of the parameter swept
    }


def notes(experiment: Experiment, store: Store, quantity: str) -> list[str]:
    """Sentences on the runs behind the tables: how many are missing, which code made them, what the spread means.

    Args:
        experiment: the plan.
        store: the stored runs.
        quantity: a name of `summary.QUANTITIES`.

    Returns:
        One sentence each.
    """
    runs = {entry.run.key: entry.run for entry in experiment.entries}
    found = [record for run in runs.values() if (record := store.find(run)) is not None]
    missing = len(runs) - len(found)
    sentences = [f"{missing} of {len(runs)} runs are missing." if missing else f"All {len(runs)} runs are there."]
    if found and all(record.get(quantity) is None for record in found):
        sentences.append(f"None of them has a {quantity}: these splits have no validation nodes.")
    if found:
        revisions = Counter(record.get("revision") or "unknown" for record in found)
        listed = ", ".join(f"{name} ({number})" for name, number in revisions.most_common())
        changed = "; + marks code that differed from its revision" if any("+" in name for name in revisions) else ""
        sentences.append(f"Made with the revisions {listed}{changed}.")
    if experiment.kind != "leaderboard" and any(pairs < 10 for pairs in _pairs(experiment, store, quantity)):
        sentences.append(
            "Intervals over few pairs are too short: with 3, 5 and 10 they hold the true mean in about 75, 84 and 89 of 100 cases."
        )
    one = sorted(
        {e.dataset for e in experiment.entries if _fixed(e)}, key=[e.dataset for e in experiment.entries].index
    )
    if one:
        sentences.append(
            f"On {', '.join(one)} all runs share one split, so the spread is that of the model's seed alone."
        )
    return sentences


def cell_text(cell: Cell, decimals: int = 1) -> str:
    """Mean ± deviation, and how many runs are done where some are missing.

    Args:
        cell: the cell.
        decimals: of both numbers.

    Returns:
        The text; empty without a value.

    >>> cell_text(Cell({0: 81.0, 1: 82.0}, 5, 2)), cell_text(Cell({0: 81.0}, 1, 1)), cell_text(Cell({}, 5, 0))
    ('81.5 ± 0.7 (2/5)', '81.0', '')
    """
    if not cell.values:
        return ""
    spread = "" if math.isnan(cell.deviation) else f" ± {cell.deviation:.{decimals}f}"
    return f"{cell.mean:.{decimals}f}{spread}" + ("" if cell.complete else f" ({cell.done}/{cell.planned})")


def difference_text(pair: Difference, decimals: int = 1) -> str:
    """Mean [interval], and how many pairs there are where some are missing.

    Args:
        pair: the paired difference.
        decimals: of all numbers.

    Returns:
        The text.

    >>> difference_text(Difference(0.83, -0.24, 1.9, 5, 5)), difference_text(Difference(0.83, math.nan, math.nan, 1, 5))
    ('+0.8 [−0.2, +1.9]', '+0.8 (1/5)')
    """
    numbers = [f"{number:+.{decimals}f}".replace("-", "−") for number in (pair.mean, pair.low, pair.high)]
    interval = "" if math.isnan(pair.low) else f" [{numbers[1]}, {numbers[2]}]"
    return numbers[0] + interval + ("" if pair.pairs == pair.planned else f" ({pair.pairs}/{pair.planned})")


def _pairs(experiment: Experiment, store: Store, quantity: str) -> list[int]:
    """The number of pairs behind every paired difference."""
    cells = grid(experiment.entries, store, quantity)
    compared = [
        difference(cells.at(one, column), cells.at(other, column))
        for one, other in contrasts(cells)
        for column in cells.columns
    ]
    return [pair.pairs for pair in compared if pair is not None]


def _fixed(entry: Entry) -> bool:
    """Whether the split is the same for all seeds."""
    return entry.split == "public" or (entry.split == "paper" and family_of(entry.dataset) == "citation")


def _setting(experiment: Experiment) -> str:
    entry = experiment.entries[0]
    labels = ", columns: labels of a class" if experiment.kind == "labels" else ""
    return f"split {entry.split}, settings {entry.settings}{labels}"


def _without_empty_backbone(table: Table) -> Table:
    if any(row[0] for row in table.rows):
        return table
    head, rows = ("variant", *table.head[2:]), tuple(row[1:] for row in table.rows)
    return Table(table.title, head, rows, labels=1)


def _number(value: float, decimals: int) -> str:
    return "" if math.isnan(value) else f"{value:.{decimals}f}"


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
