"""The tables of an experiment: accuracy with the paper's beside it, paired differences, and what they rest on."""

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
from ncgc_bench.summary import QUANTITIES, Difference, Figures, Grid, Row, contrasts, difference, grid

TITLES = {
    "test_accuracy": "Test accuracy in per cent",
    "val_accuracy": "Validation accuracy in per cent",
    "test_macro_f1": "Macro F1 on the test nodes, times 100",
    "test_calibration_error": "Expected calibration error on the test nodes, in per cent",
    "seconds": "Seconds of a training",
    "peak_mib": "Peak memory of the process in MiB",
}


@dataclass(frozen=True)
class Experiment:
    """A plan with its name: ``kind`` is the verb that makes it, ``file`` where its results go."""

    kind: str
    file: str
    entries: Sequence[Entry]

    @property
    def paper_table(self) -> str | None:
        """Which of the paper's tables these figures stand beside: it has some for its own split alone."""
        names = {"table": "main", "ablation": "ablation"}
        return names.get(self.kind) if {entry.split for entry in self.entries} == {"paper"} else None


def main_table(experiment: Experiment, store: Store, quantity: str) -> Table:
    """Mean ± standard deviation of each cell; the paper's rows beneath ours; for studies the mean of a row and its time."""
    figures = grid(experiment.entries, store, quantity)
    decimals = QUANTITIES[quantity][1]
    study = experiment.kind == "study"
    averaged = len(figures.columns) > 1 and experiment.kind != "labels"
    times = grid(experiment.entries, store, "seconds")
    rows = []
    for row in figures.rows:
        cells = [figures.at(row, column) for column in figures.columns]
        words = [cell_text(cell, decimals) for cell in cells]
        if averaged:
            words.append(_number(sum(cell.mean for cell in cells) / len(cells), decimals + 1))
        if study:
            words.append(_number(sum(times.at(row, column).mean for column in figures.columns), 0))
        rows.append((*row, *words))
        paper = _paper_row(experiment, figures, row, averaged) if quantity == "test_accuracy" else None
        rows += [paper] if paper else []
    head = ("backbone", "method", *figures.columns, *(["mean"] if averaged else []), *(["s"] if study else []))
    title = f"{TITLES[quantity]}, mean ± standard deviation" + ("" if study else f" ({_what(experiment)})")
    return _without_empty_backbone(Table(title, head, tuple(rows), labels=2))


def _paper_row(experiment: Experiment, figures: Grid, row: Row, averaged: bool) -> tuple[str, ...] | None:
    table = experiment.paper_table
    found = [table and published(table, column, *row) for column in figures.columns]
    if not any(found):
        return None
    words = [f"{pair[0]:.1f} ± {pair[1]:.1f}" if pair else "" for pair in found]
    means = [pair[0] for pair in found if pair]
    whole = [_number(sum(means) / len(means), 2) if len(means) == len(found) else ""] if averaged else []
    return (row[0], f"{row[1]}, paper", *words, *whole)


def difference_table(experiment: Experiment, store: Store, quantity: str) -> Table | None:
    """Paired differences with their intervals; None where nothing is compared or no pair is there."""
    figures = grid(experiment.entries, store, quantity)
    decimals = QUANTITIES[quantity][1]
    study = experiment.kind == "study"
    rows = []
    for ours, theirs in _compared(experiment, figures):
        found = [difference(figures.at(ours, column), figures.at(theirs, column)) for column in figures.columns]
        if any(found):
            words = [difference_text(one, decimals) if one else "" for one in found]
            rows.append((ours[0], ours[1] if study else f"{ours[1]} − {theirs[1]}", *words))
    if not rows:
        return None
    to = f" to {figures.rows[0][1]!r}" if study else ""
    title = f"Paired differences{to} on the same splits and seeds, mean [95 % bootstrap interval]"
    return _without_empty_backbone(Table(title, ("backbone", "method", *figures.columns), tuple(rows), labels=2))


def records(experiment: Experiment, store: Store, quantity: str) -> list[dict[str, Any]]:
    """The same figures in full precision, one record a cell: kind is "mean" or "difference"."""
    figures = grid(experiment.entries, store, quantity)
    first = {(entry.row, entry.column): entry for entry in reversed(experiment.entries)}
    found = []
    for (row, column), entry in sorted(
        first.items(), key=lambda item: (figures.rows.index(item[0][0]), figures.columns.index(item[0][1]))
    ):
        cell = figures.at(row, column)
        table = experiment.paper_table if quantity == "test_accuracy" else None
        paper = published(table, column, *row) if table else None
        found.append(
            {**_place("mean", quantity, entry, row), "mean": _or_none(cell.mean), "std": _or_none(cell.deviation)}
            | {"low": None, "high": None, "runs": len(cell.values), "planned": cell.planned}
            | {"paper_mean": paper and paper[0], "paper_std": paper and paper[1]}
        )
    for ours, theirs in _compared(experiment, figures):
        for column in figures.columns:
            pair = difference(figures.at(ours, column), figures.at(theirs, column))
            if pair is not None:
                place = _place("difference", quantity, first[ours, column], (ours[0], f"{ours[1]} - {theirs[1]}"))
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
    """Sentences on what the tables rest on: runs missing, the code that made them, what a spread means."""
    runs = {entry.run.key: entry.run for entry in experiment.entries}
    found = [record for run in runs.values() if (record := store.find(run)) is not None]
    missing = len(runs) - len(found)
    said = [f"{missing} of {len(runs)} runs are missing." if missing else f"All {len(runs)} runs are there."]
    if found and all(record.get(quantity) is None for record in found):
        said.append(f"None of them has a {quantity}: these splits have no validation nodes.")
    if found:
        revisions = Counter(record.get("revision") or "unknown" for record in found)
        listed = ", ".join(f"{name} ({number})" for name, number in revisions.most_common())
        changed = "; + marks code that differed from its revision" if any("+" in name for name in revisions) else ""
        said.append(f"Made with the revisions {listed}{changed}.")
    if experiment.kind != "leaderboard" and any(pairs < 10 for pairs in _pairs(experiment, store, quantity)):
        said.append(
            "Intervals over few pairs are too short: with 3, 5 and 10 they hold the true mean in about 75, 84 and 89 of 100 cases."
        )
    one = sorted(
        {e.dataset for e in experiment.entries if _fixed(e)}, key=[e.dataset for e in experiment.entries].index
    )
    if one:
        said.append(f"On {', '.join(one)} all runs share one split, so the spread is that of the model's seed alone.")
    return said


def cell_text(cell: Figures, decimals: int = 1) -> str:
    """
    >>> cell_text(Figures({0: 81.0, 1: 82.0}, 5, 2)), cell_text(Figures({0: 81.0}, 1, 1)), cell_text(Figures({}, 5, 0))
    ('81.5 ± 0.7 (2/5)', '81.0', '')
    """
    if not cell.values:
        return ""
    spread = "" if math.isnan(cell.deviation) else f" ± {cell.deviation:.{decimals}f}"
    return f"{cell.mean:.{decimals}f}{spread}" + ("" if cell.complete else f" ({cell.done}/{cell.planned})")


def difference_text(pair: Difference, decimals: int = 1) -> str:
    """
    >>> difference_text(Difference(0.83, -0.24, 1.9, 5, 5)), difference_text(Difference(0.83, math.nan, math.nan, 1, 5))
    ('+0.8 [−0.2, +1.9]', '+0.8 (1/5)')
    """
    numbers = [f"{number:+.{decimals}f}".replace("-", "−") for number in (pair.mean, pair.low, pair.high)]
    interval = "" if math.isnan(pair.low) else f" [{numbers[1]}, {numbers[2]}]"
    return numbers[0] + interval + ("" if pair.pairs == pair.planned else f" ({pair.pairs}/{pair.planned})")


def _compared(experiment: Experiment, figures: Grid) -> list[tuple[Row, Row]]:
    return [] if experiment.kind == "sweep" else contrasts(figures.rows)


def _pairs(experiment: Experiment, store: Store, quantity: str) -> list[int]:
    figures = grid(experiment.entries, store, quantity)
    compared = [
        difference(figures.at(ours, column), figures.at(theirs, column))
        for ours, theirs in _compared(experiment, figures)
        for column in figures.columns
    ]
    return [pair.pairs for pair in compared if pair is not None]


def _fixed(entry: Entry) -> bool:
    return entry.split == "public" or (entry.split == "paper" and family_of(entry.dataset) == "citation")


def _what(experiment: Experiment) -> str:
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
