"""Progress of a long experiment: on a terminal a table that fills, elsewhere one line per run."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ncgc.cli.screen import count, percent, seconds
from ncgc.runs.spec import RunSpec
from ncgc_bench.plans import Entry
from ncgc_bench.pool import Outcome
from ncgc_bench.store import Store
from ncgc_bench.summary import Cell, grid

MARK = "▸"
BESIDES = 5  # lines that are not rows of the table: its title, bar and spaces
LEAST = 6  # characters of the narrowest cell


class Watch:
    """Progress in lines, one per run.

    Args:
        entries: the plan.
        store: the stored runs.
        console: where to print.
        jobs: runs at a time, for the time left.
        quantity: what :class:`LiveTable` shows.
    """

    def __init__(self, entries: Sequence[Entry], store: Store, console: Console, jobs: int, quantity: str):
        self.entries, self.store, self.console, self.jobs, self.quantity = entries, store, console, jobs, quantity
        self.places: dict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            self.places[entry.run.key].append(entry)
        self.waiting = {run.key: run for run in store.missing(entry.run for entry in entries)}
        self.total, self.ended = len(self.waiting), 0
        self.running: dict[str, float] = {}  # key → when it began
        self.failed: list[Outcome] = []

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def started(self, run: RunSpec) -> None:
        """Note that a run has begun.

        Args:
            run: the run.
        """
        self.running[run.key] = time.monotonic()

    def finished(self, outcome: Outcome) -> None:
        """Note that a run has ended, well or not, and show it.

        Args:
            outcome: the run with its record or its problem.
        """
        self.running.pop(outcome.run.key, None)
        self.waiting.pop(outcome.run.key, None)
        self.ended += 1
        if outcome.record is None:
            self.failed.append(outcome)
        self.show(outcome)

    def show(self, outcome: Outcome) -> None:
        """Print a line on a run that has ended.

        Args:
            outcome: the run with its record or its problem.
        """
        line = f"{self.ended}/{self.total}  {self.name(outcome.run)}  "
        if outcome.record is None:
            line += f"failed: {outcome.problem}"
        else:
            line += f"test {percent(outcome.record['test_accuracy'])}"
            if outcome.record["val_accuracy"] is not None:
                line += f"  val {percent(outcome.record['val_accuracy'])}"
            line += f"  {seconds(outcome.record['seconds'])}"
        left = self.left()
        self.console.print(line + (f"  ({duration(left)} left)" if left else ""), soft_wrap=True)

    def name(self, run: RunSpec) -> str:
        """A name for a run: its column, row and seed.

        Args:
            run: a run of the plan.

        Returns:
            The name.
        """
        entry = self.places[run.key][0]
        return " ".join(filter(None, (entry.column, *entry.row, f"seed {run.seed}")))

    def left(self) -> float | None:
        """Seconds until all is done, from the times of similar runs; None before the first has ended."""
        known = [
            (key, record["seconds"]) for key in self.places if (record := self.store.find(self.places[key][0].run))
        ]
        now = time.monotonic()
        return time_left(
            [(similarity_key(self.places[key][0]), took) for key, took in known],
            [(similarity_key(self.places[key][0]), now - self.running.get(key, now)) for key in self.waiting],
            self.jobs,
        )


def similarity_key(entry: Entry) -> tuple[str, str, str]:
    """What the time of a run depends on, the most important first.

    Args:
        entry: the run and its cell.

    Returns:
        Data set, backbone (or method) and variant.
    """
    return entry.dataset, entry.backbone or entry.variant, entry.variant


def time_left(
    done: Sequence[tuple[tuple[str, ...], float]], waiting: Sequence[tuple[tuple[str, ...], float]], jobs: int
) -> float | None:
    """Estimate the time left: Σ over waiting runs of the mean time of the most similar done ones, over the jobs.

    Args:
        done: key and seconds of each run that is done; keys with a longer common beginning are more similar.
        waiting: key and seconds so far of each run that is not.
        jobs: runs at a time.

    Returns:
        Seconds; None where no run is done.

    >>> time_left([(("cora", "gcn"), 2.0), (("photo", "gcn"), 6.0)], [(("cora", "gat"), 0.0), (("cs", "gcn"), 0.0)], 2)
    3.0
    """
    if not done:
        return None
    sums: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for like, took in done:
        for length in range(len(like) + 1):
            sums[like[:length]].append(took)
    total = 0.0
    for like, passed in waiting:
        nearest = next(sums[like[:length]] for length in range(len(like), -1, -1) if like[:length] in sums)
        total += max(sum(nearest) / len(nearest) - passed, 0.0)
    return total / max(1, min(jobs, len(waiting)))


def duration(length: float) -> str:
    """A duration in words.

    Args:
        length: in seconds.

    Returns:
        The text.

    >>> duration(12.3), duration(400), duration(7300)
    ('12 s', '7 min', '2 h 2 min')
    """
    if length < 100:
        return f"{length:.0f} s"
    minutes = math.ceil(length / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class LiveTable(Watch):
    """Progress as a table that fills: mean ± deviation (done/planned), running cells marked, and a bar beneath."""

    def __enter__(self) -> LiveTable:
        self.live = Live(
            get_renderable=lambda: self, console=self.console, refresh_per_second=2, transient=True, screen=False
        )
        self.live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.live.__exit__(*error)

    def show(self, outcome: Outcome) -> None:
        self.live.refresh()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Group(self._table(options.max_width, console.size.height - BESIDES), Text(), self._bar(options.max_width))

    def _table(self, width: int, height: int) -> Table:
        figures = grid(self.entries, self.store, self.quantity)
        at_work = Counter((entry.row, entry.column) for key in list(self.running) for entry in self.places[key])
        names = [" ".join(filter(None, row)) for row in figures.rows]
        margin = max(map(len, names))
        form, columns = fitting(figures.columns, figures.cells.values(), width - margin)
        first = next((figures.columns.index(column) for _, column in at_work), 0)
        shown_columns = window(figures.columns, first, columns)
        first = next((figures.rows.index(row) for row, _ in at_work), 0)
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(style="bold cyan", no_wrap=True, overflow="ellipsis")
        for _ in shown_columns:
            table.add_column(justify="right", no_wrap=True, overflow="ellipsis")
        table.add_row("", *(Text(column, style="bold") for column in shown_columns))
        for row in window(figures.rows, first, max(1, height)):
            cells = []
            for column in shown_columns:
                busy = (row, column) in at_work
                text = FORMS[form](figures.at(row, column)) or ("·" if figures.at(row, column).planned else "")
                cells.append(Text(f"{MARK} {text}" if busy else text, style="yellow" if busy else ""))
            table.add_row(Text(" ".join(filter(None, row))), *cells)
        return table

    def _bar(self, width: int) -> Table:
        left = self.left()
        text = f"{self.ended}/{self.total} runs"
        text += f", {len(self.failed)} failed" if self.failed else ""
        text += "" if left is None else f", {duration(left)} left"
        line = Table.grid(padding=(0, 1, 0, 0))
        room = width - len(text) - 2
        if room >= 8:
            line.add_row(ProgressBar(max(1, self.total), self.ended, width=min(40, room)), Text(text))
        else:
            line.add_row(Text(text, overflow="ellipsis", no_wrap=True))
        return line


def _full(cell: Cell) -> str:
    if not cell.values:
        return f"({cell.done}/{cell.planned})" if cell.done else ""
    spread = "" if math.isnan(cell.deviation) else f" ± {cell.deviation:.1f}"
    return f"{cell.mean:.1f}{spread} ({cell.done}/{cell.planned})"


def _short(cell: Cell) -> str:
    return f"{cell.mean:.1f} ({cell.done}/{cell.planned})" if cell.values else ""


def _mean(cell: Cell) -> str:
    return f"{cell.mean:.1f}" if cell.values else ""


FORMS = (_full, _short, _mean)


def fitting(columns: Sequence[str], cells: Any, room: int) -> tuple[int, int]:
    """Choose how much of each cell to show.

    Args:
        columns: titles of the columns.
        cells: all cells of the table.
        room: characters available.

    Returns:
        The longest form (an index of FORMS) with which all columns fit, else the shortest, and how many columns then
        fit.
    """
    cells = list(cells)
    for number, form in enumerate(FORMS):
        # two for the gap, two for the mark
        widest = [
            max([len(column), LEAST, *(len(form(cell)) + len(MARK) + 1 for cell in cells)]) + 2 for column in columns
        ]
        if sum(widest) <= room:
            return number, len(columns)
    return len(FORMS) - 1, max(1, room // max(widest))


def window(items: Sequence[Any], first: int, size: int) -> Sequence[Any]:
    """A part of the items that fits.

    Args:
        items: all of them.
        first: where the part begins, if there are enough items after it.
        size: how many items fit.

    Returns:
        ``size`` of the items, or all if there are fewer.

    >>> window("abcdef", 4, 3)
    'def'
    """
    start = max(0, min(first, len(items) - size))
    return items[start : start + size]


def watch(entries: Sequence[Entry], store: Store, console: Console, jobs: int, quantity: str) -> Watch:
    """Show progress as a :class:`LiveTable` on a terminal and as lines elsewhere.

    Args:
        entries, store, console, jobs, quantity: see :class:`Watch`.

    Returns:
        The watch, to be used as a context.
    """
    kind = LiveTable if console.is_terminal else Watch
    return kind(entries, store, console, jobs, quantity)


def failures(failed: Sequence[Outcome], name: Any) -> list[str]:
    """A sentence for each different problem, with the number of runs that had it.

    Args:
        failed: the runs that failed.
        name: gives the name of a run.

    Returns:
        One sentence per problem.

    >>> run = RunSpec.on_dataset("digits", "few")
    >>> failures([Outcome(run, None, "No memory."), Outcome(run, None, "No memory.")], lambda run: "digits seed 0")
    ['2 runs failed (digits seed 0 and 1 more): No memory.']
    """
    groups: dict[str, list[RunSpec]] = defaultdict(list)
    for outcome in failed:
        groups[outcome.problem or ""].append(outcome.run)
    sentences = []
    for problem, runs in groups.items():
        more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
        sentences.append(f"{count(len(runs), 'run')} failed ({name(runs[0])}{more}): {problem}")
    return sentences
