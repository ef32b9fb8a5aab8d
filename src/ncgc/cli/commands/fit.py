"""`ncgc fit`: from a table of nodes and a table of edges to a folder with a label for every node.

The hyper-parameters are options as in `ncgc train`, but for `features`: what that names there (how X is scaled) is
`--scaling` here, since people look for their columns under `--features`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgc.cli.method_options import SET, given_parameters, method_option, method_settings
from ncgc.cli.options import keyword, option
from ncgc.cli.screen import Screen, complain, count, percent, seconds
from ncgc.errors import ParameterError
from ncgc.files import check_folder
from ncgc.params.presets import recipe
from ncgc.runs.config import HYPER, OURS

if TYPE_CHECKING:
    from ncgc.runs.fit_config import FitConfig
    from ncgc.runs.labelling import Labelling
    from ncgc.selection.auto import Choice

TABLES, RESULT = "Tables", "Result"
SCALING = replace(HYPER["features"], name="scaling")
PARAMETERS = {**{name: row for name, row in HYPER.items() if name != "features"}, "scaling": SCALING}


def _text(name: str, help: str, panel: str, metavar: str = "NAME", flag: str | None = None) -> inspect.Parameter:
    about = typer.Option(flag or f"--{name}", help=help, metavar=metavar, rich_help_panel=panel, show_default=False)
    return keyword(name, Annotated[str | None, about], None)


def _switch(name: str, help: str, flag: str | None = None) -> inspect.Parameter:
    about = typer.Option(flag or f"--{name.replace('_', '-')}", help=help, rich_help_panel=RESULT)
    return keyword(name, Annotated[bool, about], False)


FIXED = (
    _text("nodes", "The nodes: .csv, .tsv (also .gz), .parquet, or a .graphml with the edges in it.", TABLES, "FILE"),
    _text("edges", "The edges, a row each.", TABLES, "FILE"),
    _text("id", "Column of the nodes' ids. Guessed where it has a usual name, as the next four.", TABLES),
    _text("label", "Column of the labels; an empty cell is a node to be labelled.", TABLES),
    _text("source", "Column of the edges: from.", TABLES),
    _text("target", "Column of the edges: to.", TABLES),
    _text("weight", "Column of the edges' weights.", TABLES),
    _text("split", "Column that says train, val or test of the labelled nodes. Without: all train.", TABLES),
    _text(
        "features",
        "Columns with commas, with a kind where the guess would be wrong (age,bio:text; number, category, text); a .npz or "
        ".npy file with a row a node; or none for the graph's structure. Default: every other column.",
        TABLES,
        "WHAT",
    ),
    _text("delimiter", "Of text tables, where it is not the usual one.", TABLES, "CHAR"),
    _text("out", "The folder to write.", RESULT, "DIR"),
    _text("abstain", "Withhold labels below the confidence that gives this accuracy, such as 0.9.", RESULT, "SHARE"),
    _text(
        "folds", "Trainings to calibrate with, each without its share of the labels; 0: not. Default 5.", RESULT, "INT"
    ),
    _text("format", "Of the predictions: csv or parquet. Default csv.", RESULT, "WORD"),
    _text("seed", "Of everything random. Default 0.", RESULT, "INT"),
    method_option(
        "Another method than NCGC (ncgc methods lists them), or auto: the best of a few by cross-validation. Default ncgc."
    ),
    _text("budget", "Seconds that --method auto may take to choose. Default 300.", "Method", "FLOAT"),
    SET,
    _text("config", "Settings in TOML, such as an earlier run's config.toml; options override it.", RESULT, "FILE"),
    _switch("no_report", "Write no report.html."),
    _switch("overwrite", "Replace an earlier run in --out."),
    _switch("as_json", "One JSON object on stdout, the rest on stderr.", "--json"),
    _switch("quiet", "Show the result alone."),
)
AUTO_BACKBONE = "appnp"  # of NCGC where the method is chosen: the best of the leaderboard (docs/leaderboard.md)
_NUMBERS: dict[str, Callable[[str], Any]] = {"folds": int, "seed": int, "abstain": float, "budget": float}
_OUTPUT = ("out", "config", "no_report", "overwrite", "as_json", "quiet", "sets")


def fit_command() -> Callable[..., int]:
    """The verb, with an option for every declared parameter."""

    def fit(**given: Any) -> int:
        """Label the nodes of your own graph: tables in, a folder with labels, a model and a report out."""
        fixed = {parameter.name: given.pop(parameter.name) for parameter in FIXED}
        output = {name: fixed.pop(name) for name in _OUTPUT}
        return _fit(_settings(fixed, given, output.pop("sets"), output["config"]), output)

    signature = inspect.Signature([*FIXED, *(option(parameter) for parameter in PARAMETERS.values())])
    fit.__signature__ = signature  # type: ignore[attr-defined]
    fit.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return fit


def _settings(
    fixed: dict[str, Any], given: dict[str, Any], sets: list[str] | None, config: str | None
) -> dict[str, Any]:
    """The options that were given over those of the configuration file, over what is recommended for the method."""
    from ncgc.runs.fit_config import AUTO, read_fit_config

    settings = {"parameters": {}} if config is None else read_fit_config(config)
    before = settings.get("method", OURS)
    for name, text in fixed.items():
        if text is not None:
            settings[name] = _number(name, text) if name in _NUMBERS else text
    method = settings.get("method", OURS)
    parameters = settings["parameters"] if method == before else {}
    texts = {"features" if name == "scaling" else name: text for name, text in given.items() if text is not None}
    if given.get("scaling") is not None:
        SCALING.check(given["scaling"], "ncgc fit")  # by the name it has here
    if method == AUTO:
        if texts or sets:
            name = next(iter(texts), None) or sets[0].partition("=")[0]  # type: ignore[index]
            raise ParameterError(f"With --method auto no parameter can be given. Got {name!r}; name a method.")
    else:
        parameters = {**parameters, **given_parameters(texts, sets, method)}
    if "nodes" not in settings:
        raise ParameterError("Which nodes? Give --nodes and --edges, or a --config that names them.")
    return {**settings, "parameters": {**advised(method, parameters), **parameters}}


def advised(method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """What settings files say for a method on any graph, without what was given."""
    from ncgc.runs.fit_config import AUTO

    if method == AUTO:
        return {}
    found = recipe(parameters) if method == OURS else method_settings(method)
    return {name: value for name, value in found.items() if name not in parameters}


def _number(name: str, text: str) -> Any:
    try:
        return _NUMBERS[name](text)
    except ValueError:
        raise ParameterError(f"--{name} takes a number. Got {text!r} instead.") from None


def _fit(settings: dict[str, Any], output: dict[str, Any]) -> int:
    if output["out"] is None:
        raise ParameterError("Where to? Give a folder to write with --out.")
    folder = Path(output["out"])
    check_folder(folder, output["overwrite"])
    from ncgc.runs.fit_config import FitConfig  # slow from here on: torch
    from ncgc.runs.folder import leaves_model, write_run
    from ncgc.runs.labelling import make_model, read_tables

    config = FitConfig(**settings)
    screen = Screen(to_stderr=output["as_json"], quiet=output["quiet"])
    tables, split = read_tables(config)
    screen.facts([("graph", _graph_line(tables.graph)), ("labels", _split_line(split)), *_notes(tables.notes)])
    config, choice = _chosen(config, tables, split, screen)
    labelling = _train(config, tables, split, make_model(config, tables), screen)
    if labelling is None:
        return complain("Interrupted; nothing was written.", prefix="", code=130)
    labelling = replace(labelling, choice=choice)
    _show(labelling, screen)
    if not output["no_report"]:
        screen.facts([("report", "drawing the map")])
    write_run(folder, labelling, output["overwrite"], report=not output["no_report"])
    screen.facts([("written", str(folder))])
    if not leaves_model(labelling.model):
        screen.facts([("note", f"{config.method} labels the nodes of its own graph alone: no model for ncgc predict.")])
    if output["as_json"]:
        from ncgc.runs.folder import metrics_of
        from ncgc.runs.result import json_line

        typer.echo(json_line(metrics_of(labelling)))
    return 0


def _chosen(config: FitConfig, tables: Any, split: Any, screen: Screen) -> tuple[FitConfig, Choice | None]:
    """The configuration with the method that "auto" comes to, and how that was found."""
    from ncgc.runs.fit_config import AUTO
    from ncgc.runs.labelling import make_model
    from ncgc.selection.auto import choose_method

    if config.method != AUTO:
        return config, None

    def named(method: str) -> FitConfig:
        own = {"backbone": AUTO_BACKBONE} if method == OURS else {}
        return replace(config, method=method, parameters={**own, **advised(method, own)})

    rows = 0

    def say(sentence: str) -> None:
        nonlocal rows
        screen.facts([("tried" if rows == 0 else "", sentence)])
        rows += 1

    choice = choose_method(
        tables.graph,
        split,
        lambda name: make_model(named(name), tables),
        config.budget,
        config.seed,
        say,
        lambda name, epochs: screen.progress(f"trying {name}", epochs),
    )
    screen.facts([("method", f"{choice.method}: {choice.reason}")])
    return named(choice.method), choice


def _train(config: FitConfig, tables: Any, split: Any, model: Any, screen: Screen) -> Labelling | None:
    """Fit and calibrate with a bar each; None after Ctrl-C."""
    from ncgc.cli.progress import Interruption, fit
    from ncgc.evaluation.calibration import LEAST
    from ncgc.runs.labelling import finish

    if fit(model, tables.graph, split, screen, "training"):
        return None
    cross = config.folds if len(split.val) < LEAST else 0
    epochs = getattr(model, "epochs", 1)
    with (
        warnings.catch_warnings(record=True) as caught,
        Interruption() as interruption,
        screen.progress("calibrating", max(cross * epochs, 1)) as show,
    ):
        warnings.simplefilter("always")

        def watch(fold: int, folds: int, epoch: int, quantities: dict[str, float]) -> None:
            show((fold - 1) * epochs + epoch, quantities)
            interruption.check()

        labelling = finish(config, tables, split, model, watch)
    if interruption.asked:
        return None
    for sentence in dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)):
        screen.warn(f"While calibrating: {sentence[0].lower()}{sentence[1:]}")
    return labelling


def _show(labelling: Labelling, screen: Screen) -> None:
    """What came of it, in a few lines."""
    metrics = labelling.metrics()
    words = [f"{metrics['predicted']:,} of {metrics['nodes']:,} nodes labelled from {count(metrics['given'], 'label')}"]
    if metrics["mean_confidence"] is not None:
        words.append(f"mean confidence {metrics['mean_confidence']:.2f}")
    rows = [("result", "; ".join(words))]
    if labelling.config.abstain is not None:
        asked = f"{metrics['withheld']:,} nodes left unlabelled, to be right in {percent(labelling.config.abstain)}"
        unsure = metrics["threshold"] is None
        rows.append(("abstain", asked + (": no confidence gives that accuracy" if unsure else "")))
    if metrics["calibrated"] is not None:
        error = metrics["calibration_error"]
        rows.append(("confidence", metrics["calibrated"] + ("" if error is None else f", error {error:.3f}")))
    for part in ("val", "test"):
        if metrics[f"{part}_accuracy"] is not None:
            rows.append((part, f"accuracy {percent(metrics[f'{part}_accuracy'])}"))
    rows.append(("took", f"{seconds(metrics['seconds'])}, epoch {metrics['best_epoch']} of {metrics['epochs']} kept"))
    screen.facts(rows)
    if screen.quiet:
        screen.say(words[0], result=True)


def _graph_line(graph: Any) -> str:
    counts = ((graph.num_nodes, "node"), (graph.num_edges, "edge"), (graph.num_features, "feature"))
    return ", ".join(count(*pair) for pair in (*counts, (graph.num_classes, "class")))


def _split_line(split: Any) -> str:
    words = [f"{len(split.train):,} to learn from"]
    words += [f"{len(split.val):,} to choose by"] if len(split.val) else []
    words += [f"{len(split.test):,} to compare with"] if len(split.test) else []
    return ", ".join(words)


def _notes(notes: list[str]) -> list[tuple[str, str]]:
    return [("note" if number == 0 else "", note) for number, note in enumerate(notes)]
