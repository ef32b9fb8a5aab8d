"""`ncgc tune`: search for good hyper-parameters by validation accuracy. After Ctrl-C the same command resumes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgc.cli.options import value_of
from ncgc.cli.screen import Screen, complain, count, percent, seconds
from ncgc.datasets.catalogue import CATALOGUE, find_info
from ncgc.errors import OutputError, ParameterError
from ncgc.files import write_text
from ncgc.params.ncgc import DEFAULTS, NCGC_PARAMETERS
from ncgc.params.parameter import check_parameters, unknown_name
from ncgc.params.presets import preset, recipe
from ncgc.runs.spec import RunSpec
from ncgc.selection.tuning.space import DEFAULT, FIRST_SEED, Space, space_for

if TYPE_CHECKING:
    from ncgc.selection.tuning.search import Tried, Tuning

_WHAT, _HOW, _FILES = "What to tune", "How to search", "Files and output"


_Name = Annotated[str, typer.Argument(metavar="NAME", help=f"The data set: {', '.join(CATALOGUE)}.")]
_Backbone = Annotated[
    str,
    typer.Option(
        "--backbone", metavar="WORD", help="Whose propagation the layers use. Default gcn.", rich_help_panel=_WHAT
    ),
]
_Settings = Annotated[
    str,
    typer.Option(
        "--settings",
        metavar="NAME",
        help="Recommended hyper-parameters for what is not searched: default, tuned or paper. Default default.",
        rich_help_panel=_WHAT,
    ),
]
_Fixed = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Fix a hyper-parameter. Repeat for more.", rich_help_panel=_WHAT),
]
_Search = Annotated[
    str | None,
    typer.Option(
        "--search",
        metavar="NAMES",
        help=f"Hyper-parameters to search, separated by commas. Default {', '.join(DEFAULT)} and the backbone's own.",
        rich_help_panel=_WHAT,
    ),
]
_Trials = Annotated[
    int, typer.Option("--trials", metavar="INT", help="Number of trials in all. Default 30.", rich_help_panel=_HOW)
]
_Splits = Annotated[
    int,
    typer.Option(
        "--splits", metavar="INT", help="Number of splits to score a trial on. Default 3.", rich_help_panel=_HOW
    ),
]
_LabelsPerClass = Annotated[
    int,
    typer.Option(
        "--labels-per-class", metavar="INT", help="Training nodes of each class. Default 20.", rich_help_panel=_HOW
    ),
]
_Blind = Annotated[
    bool,
    typer.Option(
        "--blind/--no-blind",
        help="Keep validation nodes from training: they score a trial but choose no epoch.",
        rich_help_panel=_HOW,
    ),
]
_Seed = Annotated[
    int, typer.Option("--seed", metavar="INT", help="Random seed of the search. Default 0.", rich_help_panel=_HOW)
]
_Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        metavar="INT",
        help="Splits to score at a time, each in its own process. Default 1.",
        rich_help_panel=_HOW,
    ),
]
_Storage = Annotated[
    Path | None,
    typer.Option(
        "--storage",
        metavar="FILE",
        help="SQLite file of the study. Default runs/tune-NAME-BACKBONE.db.",
        rich_help_panel=_FILES,
    ),
]
_Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write the best settings to this file, for ncgc train --config.",
        rich_help_panel=_FILES,
    ),
]
_Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Look for data sets in this folder first.", rich_help_panel=_FILES),
]


def tune(
    name: _Name,
    backbone: _Backbone = "gcn",
    settings: _Settings = "default",
    fixed: _Fixed = None,
    search: _Search = None,
    trials: _Trials = 30,
    splits: _Splits = 3,
    labels_per_class: _LabelsPerClass = 20,
    blind: _Blind = False,
    seed: _Seed = 0,
    jobs: _Jobs = 1,
    storage: _Storage = None,
    out: _Out = None,
    data: _Data = None,
) -> int:
    """Search for the hyper-parameters with the best validation accuracy over a few random splits.

    Test labels are never read. After Ctrl-C the same command resumes the search.
    """
    least = {"--trials": (trials, 1), "--splits": (splits, 1), "--labels-per-class": (labels_per_class, 1),
             "--jobs": (jobs, 1), "--seed": (seed, 0)}  # fmt: skip
    for option, (value, lowest) in least.items():
        if value < lowest:
            raise ParameterError(f"{option} must be a whole number from {lowest}. Got {value} instead.")
    dataset = find_info(name).name
    base, space = _parameters(dataset, backbone, settings, fixed or [], search)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise OutputError(f"The settings cannot be written to {out}; --out must be a file in a folder that exists.")
    from ncgc.selection.tuning.search import Tuning, TuningTask, check_optuna

    check_optuna()
    from ncgc.datasets import load_dataset

    graph = load_dataset(dataset, root=data)
    task = TuningTask(dataset, base, space, splits, labels_per_class, blind, seed)
    storage = storage or Path(f"runs/tune-{dataset}-{backbone}.db")
    tuning = Tuning(task, graph, storage)
    screen = Screen()
    screen.rows(_rows(tuning, trials, storage))
    try:
        _show(tuning, tuning.run(trials, jobs), trials, screen)
    except KeyboardInterrupt:
        done = tuning.done
        complain(f"Interrupted after {done} of {trials} trials; the same command resumes from there.", prefix="")
        return 130
    return _finish(tuning, screen, out)


def _parameters(
    dataset: str, backbone: str, settings: str, fixed: list[str], search: str | None
) -> tuple[dict[str, Any], Space]:
    """The parameters of every trial and the search space, checked."""
    NCGC_PARAMETERS["backbone"].check(backbone)
    base = preset(settings, backbone, dataset)
    given: dict[str, Any] = {}
    for text in fixed:
        key, equals, value = (part.strip() for part in text.partition("="))
        key = key.replace("-", "_")
        if not equals or not value:
            raise ParameterError(f"--set takes NAME=VALUE, as in --set epochs=200. Got {text!r} instead.")
        if key in ("backbone", "random_state"):
            raise ParameterError(
                f"--set {key} has an option of its own: --{'backbone' if key == 'backbone' else 'seed'}."
            )
        if key not in NCGC_PARAMETERS:
            raise ParameterError(unknown_name(key, NCGC_PARAMETERS, "parameter"))
        truth = {"true": True, "on": True, "false": False, "off": False}.get(value.lower())
        given[key] = (
            truth if NCGC_PARAMETERS[key].kind is bool and truth is not None else value_of(NCGC_PARAMETERS[key], value)
        )
    check_parameters(given, "NCGC", NCGC_PARAMETERS)
    names = None if search is None else [word.strip().replace("-", "_") for word in search.split(",") if word.strip()]
    space = space_for(backbone, names)
    if names is None:
        space = {key: place for key, place in space.items() if key not in given}
    for key in given:
        if key in space:
            raise ParameterError(f"The parameter '{key}' is both fixed with --set and searched; drop one of the two.")
    return {**base, **given}, space


def _rows(tuning: Tuning, trials: int, storage: Path) -> list[tuple[str, str]]:
    task = tuning.task
    first = f"{count(task.splits, 'split')} with {count(task.labels_per_class, 'label')} per class"
    rule = "validation nodes score only" if task.blind else "validation nodes score and choose the epoch"
    rows = [
        ("tuning", f"{task.base['backbone']} on {task.dataset}, {first}; {rule}"),
        ("search", ", ".join(task.space)),
    ]
    done = tuning.done
    return [*rows, ("study", f"{storage}, {done} of {trials} trials done" if done else str(storage))]


def _show(tuning: Tuning, tried: Iterable[Tried], trials: int, screen: Screen) -> None:
    """One line per trial, and on a terminal a bar beneath them."""
    with ExitStack() as stack:
        bar = stack.enter_context(screen.progress("trials", trials)) if screen.console.is_terminal else None
        best = tuning.best()
        if bar is not None:
            bar(tuning.done, {} if best is None else {"val_accuracy": best[0]})
        for one in tried:
            best = tuning.best()
            screen.rows([(f"{one.number}/{trials}", _line(one, None if best is None else best[0]))])
            if bar is not None:
                bar(tuning.done, {} if best is None else {"val_accuracy": best[0]})


def _line(one: Tried, best: float | None) -> str:
    values = ", ".join(f"{key} {_short(value)}" for key, value in one.parameters.items())
    result = {
        "complete": f"val {percent(one.mean)}" + (" (best)" if one.mean == best else ""),
        "pruned": f"val {percent(one.mean)}, given up after {count(len(one.scores), 'split')}",
        "failed": "could not be trained",
    }[one.ended]
    return f"{result}  {seconds(one.seconds)}  {values}"


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _finish(tuning: Tuning, screen: Screen, out: Path | None) -> int:
    best = tuning.best()
    if best is None:
        raise ParameterError("No trial could be trained to its end; search other parameters, or fewer.")
    start = time.perf_counter()
    importance = tuning.importance()
    if importance:
        words = ", ".join(f"{name} {100 * share:.0f} %" for name, share in importance.items())
        screen.rows([("matters", f"{words} ({seconds(time.perf_counter() - start)})")])
    text = settings_toml(tuning, *best)
    screen.say()
    screen.console.print(text, end="", soft_wrap=True)  # to be copied whole
    if out is not None:
        write_text(out, text)
        screen.say()
        screen.rows([("written", str(out))])
        screen.console.print(f"  ncgc train --config {out}", soft_wrap=True)
    return 0


def settings_toml(tuning: Tuning, accuracy: float, parameters: dict[str, Any]) -> str:
    """The best settings as a configuration that `ncgc train --config` takes.

    Args:
        tuning: the study.
        accuracy: its best mean validation accuracy.
        parameters: the hyper-parameters that gave it.

    Returns:
        The text of the file.
    """
    task = tuning.task
    # trials have defaults where `ncgc train` would take the recipe of the backbone, so the defaults are written down
    unnamed = {key: DEFAULTS[key] for key in recipe(parameters)}
    spec = RunSpec.on_dataset(task.dataset, "random", task.labels_per_class, parameters={**unnamed, **parameters})
    where = f"mean over {count(task.splits, 'split')} from seed {FIRST_SEED}"
    return spec.to_toml(
        head=f"Best of {count(tuning.done, 'trial')}: validation accuracy {percent(accuracy)}, {where}."
    )
