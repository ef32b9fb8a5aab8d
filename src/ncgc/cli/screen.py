"""What a person sees: aligned rows, a live progress bar, results. On a pipe, plain lines that nothing wraps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ncgc.graph import Graph

PLAIN_SECONDS = 5.0  # between two progress lines on a pipe
PARTS = ("class", "kl", "pl")

Watch = Callable[[int, dict[str, float]], None]


class Screen:
    """Writes for people.

    Args:
        to_stderr: write to stderr, because stdout is for a program.
        quiet: show results and warnings only.
    """

    def __init__(self, to_stderr: bool = False, quiet: bool = False):
        self.console = Console(stderr=to_stderr, highlight=False, markup=False, emoji=False)
        self.quiet, self.silent = quiet, quiet and to_stderr  # then the program gets the result
        self.margin = 7  # width of the words at the left; grows with the longest

    def rows(self, rows: Iterable[tuple[str, str]]) -> None:
        """Show lines of a word and a text, the text with a hanging indent.

        Args:
            rows: (word, text) of each line.
        """
        if self.quiet:
            return
        rows = list(rows)
        self.margin = max(self.margin, *(len(label) for label, _ in rows))
        if not self.console.is_terminal:
            for label, text in rows:
                self.console.print(f"{label:<{self.margin}}  {text}", soft_wrap=True)
            return
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold cyan", no_wrap=True, width=self.margin)
        grid.add_column()
        for label, text in rows:
            grid.add_row(Text(label), Text(text, overflow="fold"))
        self.console.print(grid)

    def say(self, what: RenderableType = "", result: bool = False) -> None:
        """Show a line or a table.

        Args:
            what: text, or what rich can render.
            result: show it even when quiet.
        """
        if not self.quiet or (result and not self.silent):
            self.console.print(what, soft_wrap=isinstance(what, str | Text) and not self.console.is_terminal)

    def warn(self, text: str) -> None:
        """Write a warning to stderr, quiet or not.

        Args:
            text: a sentence.
        """
        complain(text, prefix="Warning: ")

    @contextmanager
    def progress(self, label: str, total: int, unit: str = "epoch") -> Iterator[Watch]:
        """Show each epoch, the parts of the loss and the validation accuracy.

        Args:
            label: the name of the work.
            total: epochs, or other units of work.
            unit: what is counted.

        Yields:
            A watcher for ``fit``.
        """
        if self.quiet:
            yield lambda epoch, quantities: None
        elif self.console.is_terminal:
            with _EpochBar(console=self.console) as bar:
                yield bar.start_epochs(label, total)
        else:
            yield self._plain(label, total, unit)

    def _plain(self, label: str, total: int, unit: str) -> Watch:
        shown = time.monotonic()

        def watch(epoch: int, quantities: dict[str, float]) -> None:
            nonlocal shown
            if time.monotonic() - shown >= PLAIN_SECONDS:
                shown = time.monotonic()
                line = f"{label}  {unit} {epoch}/{total}  {describe(quantities)}"
                self.console.print(line.rstrip(), soft_wrap=True)

        return watch


class _EpochBar(Progress):
    """The bar, and beneath it the numbers of the latest epoch; both vanish at the end."""

    def __init__(self, console: Console):
        self.below = Text("")  # before Progress draws for the first time
        super().__init__(
            TextColumn("{task.description}", style="bold cyan"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            refresh_per_second=8,
            expand=True,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        yield self.below

    def start_epochs(self, label: str, total: int) -> Watch:
        """Begin a bar and return its watcher."""
        task = self.add_task(label, total=total)

        def watch(epoch: int, quantities: dict[str, float]) -> None:
            self.below = Text(describe(quantities), style="dim", overflow="ellipsis", no_wrap=True)
            self.update(task, completed=epoch)

        return watch


def describe(quantities: dict[str, float]) -> str:
    """The numbers of an epoch in a line of at most 52 characters.

    Args:
        quantities: losses and validation accuracy by name; others are left out.

    Returns:
        The line.

    >>> describe({"class": 0.5, "kl": 0.0123, "val_accuracy": 0.81})
    'class 0.500  kl 0.012  val 81.0 %'
    """
    numbers = {part: quantities[part] for part in PARTS if part in quantities}
    words = [f"{part} {number:{'.3f' if abs(number) < 1000 else '.1e'}}" for part, number in numbers.items()]
    if "val_accuracy" in quantities:
        words.append(f"val {percent(quantities['val_accuracy'])}")
    return "  ".join(words)


def percent(share: float | None) -> str:
    """A fraction in per cent.

    Args:
        share: from 0 to 1; None or NaN where it is unknown.

    Returns:
        The text.

    >>> percent(0.8912), percent(None)
    ('89.1 %', 'none')
    """
    return "none" if share is None or math.isnan(share) else f"{100 * share:.1f} %"


def seconds(duration: float) -> str:
    """A duration in words.

    Args:
        duration: in seconds.

    Returns:
        The text.

    >>> seconds(4.23), seconds(75)
    ('4.2 s', '1 min 15 s')
    """
    return f"{duration:.1f} s" if duration < 60 else f"{int(duration) // 60} min {int(duration) % 60} s"


def count(number: int, noun: str) -> str:
    """A number with its noun.

    Args:
        number: how many.
        noun: in the singular.

    Returns:
        The text.

    >>> count(1, "edge"), count(12339, "edge"), count(2, "class")
    ('1 edge', '12,339 edges', '2 classes')
    """
    plural = noun if number == 1 else noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {plural}"


def graph_line(graph: Graph) -> str:
    """The size of a graph in words.

    Args:
        graph: the graph.

    Returns:
        Its numbers of nodes, edges, features and classes.
    """
    counts = ((graph.num_nodes, "node"), (graph.num_edges, "edge"), (graph.num_features, "feature"))
    return ", ".join(count(*pair) for pair in (*counts, (graph.num_classes, "class")))


def complain(text: str, prefix: str = "Error: ", code: int = 2) -> int:
    """Write a sentence to stderr, wrapped at words on a terminal and in one line elsewhere.

    Args:
        text: the sentence.
        prefix: what stands before it.
        code: the exit code.

    Returns:
        The exit code, for the caller to return.
    """
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    console.print(prefix + text, soft_wrap=not console.is_terminal)
    return code
