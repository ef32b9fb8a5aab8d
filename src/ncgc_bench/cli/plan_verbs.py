"""The verbs of `ncgc bench` that have a plan: run what the store lacks, and show the tables.

Every verb builds a plan, makes the runs that the store lacks and prints the table; after a stop the same command
resumes. `ncgc bench show` prints and trains nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from ncgc.cli.options import keyword
from ncgc.cli.screen import Screen, complain, count
from ncgc.errors import ParameterError
from ncgc.files import check_folder
from ncgc_bench.cli.plan_options import ABOUT, OPTIONS, check_names, experiment
from ncgc_bench.leaderboard import beside_authors, ranking, standings
from ncgc_bench.render import Table, as_csv, as_latex, as_markdown, as_text
from ncgc_bench.store import FOLDER, Store
from ncgc_bench.summary import QUANTITIES
from ncgc_bench.tables import Experiment, difference_table, main_table, notes, records

FORMATS = ("text", "markdown", "latex", "csv")
_FILES = "Files and output"


def _option(name: str, kind: Any, metavar: str | None, about: str, default: Any) -> inspect.Parameter:
    flag = "--" + name.replace("_", "-")
    option = typer.Option(flag, metavar=metavar, help=about, rich_help_panel=_FILES, show_default=False)
    return keyword(name, Annotated[kind, option], default)


_RESULTS = _option("results", Path, "DIR", f"Where results are stored. Default {FOLDER}.", FOLDER)
RUN_OPTIONS = (
    _option("jobs", int, "INT", "Runs at a time, each in its own process. Default 2.", 2),
    _option("threads", int, "INT", "Threads of each process. Default 1.", 1),
    _RESULTS,
    _option("data", Path | None, "DIR", "Look for data sets in this folder first.", None),
    _option("dry_run", bool, None, "Print how many runs are done and missing, and stop.", False),
)
SHOW_OPTIONS = (
    _option("quantity", str | None, "WORD", f"One of {', '.join(QUANTITIES)}. Default test_accuracy; study: val_accuracy.", None),
    _option("format", str, "WORD", f"One of {', '.join(FORMATS)}. Default text.", "text"),
    _option("tables", int | None, "INT", "Print only the first INT tables; not for csv.", None),
    _RESULTS,
)  # fmt: skip


def verb(
    kind: str, extra: Sequence[inspect.Parameter], act: Callable[[str, dict[str, Any]], int]
) -> Callable[..., int]:
    """A verb for typer.

    Args:
        kind: the experiment, a name of `plan_options.OPTIONS`.
        extra: options besides those of the experiment.
        act: called with the experiment and all options; returns the exit code.

    Returns:
        A function whose signature holds all options.
    """

    def command(**given: Any) -> int:
        return act(kind, given)

    signature = inspect.Signature([*OPTIONS[kind], *extra])
    command.__name__, command.__doc__ = kind, ABOUT[kind]
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return command


def run_plan(kind: str, given: dict[str, Any]) -> int:
    """Make the runs of an experiment that the store lacks, then print its tables.

    Args:
        kind: the experiment.
        given: its options and :data:`RUN_OPTIONS`, by name.

    Returns:
        The exit code: 0, 2 if a run failed, 130 after Ctrl-C.
    """
    from ncgc_bench.cli.live import failures, watch
    from ncgc_bench.pool import make

    _check(given)
    screen = Screen()
    chosen = experiment(kind, given, screen.say)
    store = Store(given["results"])
    runs = [entry.run for entry in chosen.entries]
    missing, planned = len(store.missing(runs)), len({run.key for run in runs})
    if missing and not given["dry_run"]:
        check_folder(given["results"], overwrite=True)
    quantity = _quantity(kind, None)
    root = None if given["data"] is None else str(given["data"])
    view = watch(chosen.entries, store, screen.console, given["jobs"], quantity)
    stopped = False
    try:
        screen.say(f"{count(planned, 'run')}: {planned - missing} done, {missing} to make.")
        if given["dry_run"]:
            return 0
        with view, closing(
            make(runs, store, chosen.file, given["jobs"], given["threads"], root, started=view.started)
        ) as outcomes:  # fmt: skip
            for outcome in outcomes:
                view.finished(outcome)
    except KeyboardInterrupt:
        stopped = True
    if planned > len(store.missing(runs)):
        _print(chosen, store, quantity, "text", screen)
    for sentence in failures(view.failed, view.name):
        complain(sentence)
    if stopped:
        done = planned - len(store.missing(runs))
        complain(f"Interrupted: {done} of {count(planned, 'run')} are done and stored; the same command resumes.", "")
        return 130
    return 2 if view.failed else 0


def _check(given: dict[str, Any]) -> None:
    for name in ("jobs", "threads"):
        if given[name] < 1:
            raise ParameterError(f"--{name} must be a whole number from 1. Got {given[name]} instead.")
    if given["data"] is not None and not given["data"].is_dir():
        raise ParameterError(
            f"The data folder {given['data']} does not exist or is not a folder; give an existing one."
        )


def show_plan(kind: str, given: dict[str, Any]) -> int:
    """Print the tables of an experiment from the store alone.

    Args:
        kind: the experiment.
        given: its options and :data:`SHOW_OPTIONS`, by name.

    Returns:
        The exit code.
    """
    check_names([given["format"]], FORMATS, "format")
    quantity = _quantity(kind, given["quantity"])
    aside = Screen(to_stderr=True)
    chosen = experiment(kind, given, aside.say)
    if given["tables"] is not None and given["tables"] < 1:
        raise ParameterError(f"--tables must be a whole number from 1. Got {given['tables']} instead.")
    _print(chosen, Store(given["results"]), quantity, given["format"], Screen(), given["tables"])
    return 0


def _quantity(kind: str, given: str | None) -> str:
    if given is None:
        return "val_accuracy" if kind == "study" else "test_accuracy"
    return check_names([given], list(QUANTITIES), "quantity")[0]


def _print(chosen: Experiment, store: Store, quantity: str, form: str, screen: Screen, most: int | None = None) -> None:
    """The tables, or the first of them, on stdout; notes beneath, or with CSV on stderr."""
    sentences = notes(chosen, store, quantity)
    if form == "csv":
        typer.echo(as_csv(records(chosen, store, quantity)), nl=False)
        for sentence in sentences:
            typer.echo(sentence, err=True)
        return
    width = screen.console.width if screen.console.is_terminal else None
    for table in _tables(chosen, store, quantity)[:most]:
        typer.echo()
        if form == "text":
            typer.echo(as_text(table, width))
        else:
            typer.echo(as_markdown(table) if form == "markdown" else as_latex(table))
    typer.echo()
    for sentence in sentences:
        if form == "text":
            screen.say(sentence)
        else:
            typer.echo(f"% {sentence}" if form == "latex" else f"{sentence}\n")


def _tables(chosen: Experiment, store: Store, quantity: str) -> list[Table]:
    if chosen.kind == "leaderboard" and quantity == "test_accuracy":
        found = [ranking(chosen, store), standings(chosen, store), beside_authors(chosen, store)]
    else:
        found = [main_table(chosen, store, quantity), difference_table(chosen, store, quantity)]
    return [table for table in found if table is not None]
