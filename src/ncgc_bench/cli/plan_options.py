"""The options that select the runs of an experiment, and their text turned into checked plans."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ncgc.cli.options import keyword, value_of
from ncgc.datasets.catalogue import family_of, find_info
from ncgc.datasets.splits import KINDS
from ncgc.errors import ParameterError
from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.params.parameter import unknown_name
from ncgc_bench.plans import (
    BACKBONES,
    LABELS,
    LEADERBOARD_BACKBONES,
    PAPER_BACKBONES,
    SWEEPS,
    VARIANTS,
    Entry,
    ablation_plan,
    labels_plan,
    leaderboard_plan,
    sweep_plan,
    table_plan,
)
from ncgc_bench.study import study_plan
from ncgc_bench.tables import Experiment

Say = Callable[[str], None]
_PANEL = "What to run"


def _option(name: str, kind: Any, metavar: str, about: str, default: Any = None) -> inspect.Parameter:
    dashed = "--" + name.replace("_", "-")
    option = typer.Option(dashed, metavar=metavar, help=about, rich_help_panel=_PANEL, show_default=False)
    return keyword(name, Annotated[kind, option], default)


def _datasets(default: str) -> inspect.Parameter:
    return _option("datasets", str | None, "NAMES", f"Data sets, separated by commas. Default {default}.")


def _backbones(default: Sequence[str]) -> inspect.Parameter:
    return _option("backbones", str | None, "NAMES", f"Any of {', '.join(BACKBONES)}. Default {','.join(default)}.")


def _methods(shown: str, default: str | None = "") -> inspect.Parameter:
    about = f"ncgc, plain (the backbone alone), those of ncgc methods, or all. Default {shown}."
    return _option("methods", str | None, "NAMES", about, shown if default == "" else default)


_SPLIT = _option("split", str, "WORD", f"One of {', '.join(KINDS)}. Default paper.", "paper")
_RUNS = _option(
    "runs", int | None, "INT", "Runs per cell, one per seed. Default 10 on random and few, else 5, cs and physics 3."
)
_SETTINGS = _option("settings", str, "NAME", "Named hyper-parameters: default, paper, … Default default.", "default")
_COMMON = (_RUNS, _SETTINGS)
_FILE = inspect.Parameter(
    "file",
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    annotation=Annotated[
        Path, typer.Argument(metavar="FILE", help="The study, in TOML (benchmarks/studies has some).")
    ],
)
# verb → its options
OPTIONS: dict[str, tuple[inspect.Parameter, ...]] = {
    "table": (_datasets("the paper's seven"), _backbones(PAPER_BACKBONES), _methods("ncgc,plain"), _SPLIT, *_COMMON),
    "ablation": (_datasets("the paper's seven"), _backbones(("gcn",)), _SPLIT, *_COMMON),
    "sweep": (
        _option("parameter", str | None, "NAMES", f"What to vary. Default {','.join(SWEEPS)}."),
        _option(
            "values",
            str | None,
            "NUMBERS",
            "Its values, separated by commas, for one --parameter. Default the paper's.",
        ),
        _datasets("cora,citeseer,photo"),
        _backbones(("gcn",)),
        _SPLIT,
        *_COMMON,
    ),
    "labels": (
        _option("labels", str | None, "NUMBERS", f"Numbers of labels per class. Default {','.join(map(str, LABELS))}."),
        _datasets("cora,citeseer,photo"),
        _backbones(("gcn", "appnp")),
        _methods("ncgc,plain,label_spreading"),
        *_COMMON,
    ),
    "leaderboard": (
        _datasets("the paper's seven"),
        _backbones(LEADERBOARD_BACKBONES),
        _methods("ncgc and those of ncgc methods", None),
        _option("split", str, "WORD", f"One of {', '.join(KINDS)}. Default random.", "random"),
        _option("runs", int | None, "INT", "Runs per cell, one per seed. Default 5."),
        _SETTINGS,
    ),
    "study": (_FILE,),
}
PLANS: dict[str, Callable[..., list[Entry]]] = {
    "table": table_plan,
    "ablation": ablation_plan,
    "sweep": sweep_plan,
    "labels": labels_plan,
    "leaderboard": leaderboard_plan,
}
# verb → the first line of its help
ABOUT = {
    "table": "Accuracy of NCGC and its plain backbones on every data set.",
    "ablation": "Each part of the method taken out in turn.",
    "sweep": "One parameter at a time over a range of values.",
    "labels": "Accuracy against the number of labels per class, without validation labels.",
    "leaderboard": "NCGC and every other method side by side, the best first, with seconds and memory.",
    "study": "Variants side by side on splits that no table uses, from a TOML file.",
}


def experiment(kind: str, given: Mapping[str, Any], say: Say) -> Experiment:
    """The experiment that the options of a verb select.

    Args:
        kind: the verb.
        given: its options by name, as on the command line.
        say: called with a sentence on data sets that are left out.

    Returns:
        The plan with its name.

    Raises:
        ParameterError: if an option is empty or out of range, or a name is unknown.
    """
    if kind == "study":
        entries = study_plan(given["file"])
        for entry in entries:
            find_info(entry.dataset)
        return Experiment("study", f"study-{Path(given['file']).stem}", entries)
    return Experiment(kind, kind, _entries(kind, given, say))


def _entries(kind: str, given: Mapping[str, Any], say: Say) -> list[Entry]:
    chosen: dict[str, Any] = {"runs": _runs(given["runs"]), "settings": given["settings"]}
    if given["datasets"] is not None:
        chosen["datasets"] = [find_info(name).name for name in words(given["datasets"], "--datasets")]
    if given["backbones"] is not None:
        chosen["backbones"] = check_names(words(given["backbones"], "--backbones"), BACKBONES, "backbone")
    if given.get("methods") is not None:
        chosen |= _chosen_methods(given["methods"])
    if "split" in given:
        chosen["split"] = check_names([given["split"]], KINDS, "split")[0]
        if chosen["split"] == "public":
            chosen["datasets"] = _with_public_split(chosen.get("datasets", _default_datasets(PLANS[kind])), say)
    if kind == "sweep":
        chosen["sweeps"] = sweeps(given["parameter"], given["values"])
    if given.get("labels") is not None:
        chosen["labels"] = [_count(word) for word in words(given["labels"], "--labels")]
    return PLANS[kind](**chosen)


def words(text: str, option: str) -> list[str]:
    """The words between commas, each once.

    Args:
        text: words with commas.
        option: where they were given, for the message.

    Returns:
        The words in order.

    Raises:
        ParameterError: if there are none.

    >>> words("cora, photo,cora", "--datasets")
    ['cora', 'photo']
    """
    found = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not found:
        raise ParameterError(f"{option} is empty; give at least one, or leave the option out.")
    return found


def check_names(names: Iterable[str], allowed: Sequence[str], what: str) -> list[str]:
    """Check that every name is known.

    Args:
        names: what was given.
        allowed: the known names.
        what: what they name, for the message.

    Returns:
        The names as a list.

    Raises:
        ParameterError: with the nearest known name, for an unknown one.
    """
    names = list(names)
    for name in names:
        if name not in allowed:
            raise ParameterError(unknown_name(name, allowed, what))
    return names


def sweeps(parameter: str | None, values: str | None) -> dict[str, Sequence[float]]:
    """The parameters to sweep and their values.

    Args:
        parameter: names with commas; None for those of `plans.SWEEPS`.
        values: of one parameter, with commas; None for those of `plans.SWEEPS`.

    Returns:
        Parameter → values.

    Raises:
        ParameterError: if a parameter is unknown or not a number, a value is out of range, or values are missing.

    >>> sweeps("sinkhorn_iterations", "1,2")
    {'sinkhorn_iterations': [1, 2]}
    """
    names = list(SWEEPS) if parameter is None else words(parameter, "--parameter")
    numbers = [name for name, row in NCGC_PARAMETERS.items() if row.kind in (int, float) and name != "random_state"]
    check_names(names, numbers, "parameter to vary")
    if values is None:
        without = [name for name in names if name not in SWEEPS]
        if without:
            raise ParameterError(f"There are no values for {without[0]!r}; give some with --values.")
        return {name: SWEEPS[name] for name in names}
    if len(names) != 1:
        raise ParameterError("--values needs one --parameter that takes them.")
    row = NCGC_PARAMETERS[names[0]]
    found = [value_of(row, word) for word in words(values, "--values")]
    for value in found:
        row.check(value)
    return {names[0]: found}


def _chosen_methods(text: str) -> dict[str, Any]:
    from ncgc.models.registry import BASELINES

    every = [*VARIANTS, *BASELINES]
    names = every if text.strip() == "all" else check_names(words(text, "--methods"), [*every, "all"], "method")
    return {
        "variants": {name: VARIANTS[name] for name in names if name in VARIANTS},
        "others": [name for name in names if name in BASELINES],
    }


def _default_datasets(plan: Callable[..., Any]) -> Sequence[str]:
    default: Sequence[str] = inspect.signature(plan).parameters["datasets"].default
    return default


def _with_public_split(datasets: Sequence[str], say: Say) -> list[str]:
    having = [name for name in datasets if family_of(name) == "citation"]
    left_out = [name for name in datasets if name not in having]
    if not having:
        raise ParameterError(f"None of {', '.join(datasets)} has a public split; use --split random.")
    if left_out:
        verbs = ("has", "is") if len(left_out) == 1 else ("have", "are")
        say(f"{', '.join(left_out)} {verbs[0]} no public split and {verbs[1]} left out.")
    return having


def _runs(number: int | None) -> int | None:
    if number is not None and number < 1:
        raise ParameterError(f"--runs must be a whole number from 1. Got {number} instead.")
    return number


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise ParameterError(f"--labels must be whole numbers from 1, with commas. Got {word!r} instead.")
    return int(word)
