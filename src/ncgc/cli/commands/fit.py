"""`ncgc fit`: from a table of nodes and a table of edges to a folder with a label for every node.

The hyper-parameters are options as in `ncgc train`, but for `features`: how feature rows are normalised is `--scaling`
here, because people look for their columns under `--features`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ncgc.cli.options import (
    HYPER_PARAMETERS,
    METHOD,
    SET,
    given_parameters,
    method_option,
    option,
    switch,
    text_option,
    with_options,
)
from ncgc.cli.screen import Screen, complain, count, graph_line, percent, seconds
from ncgc.errors import ParameterError
from ncgc.files import check_folder
from ncgc.runs.settings_file import read_settings
from ncgc.runs.source import TableSource
from ncgc.runs.spec import AUTO, DEFAULT_METHOD, RunSpec, recommended

if TYPE_CHECKING:
    from ncgc.datasets import Split
    from ncgc.runs.result import RunResult

TABLES, RESULT = "Tables", "Result"
SCALING = replace(HYPER_PARAMETERS["features"], name="scaling")
PARAMETERS = {**{name: row for name, row in HYPER_PARAMETERS.items() if name != "features"}, "scaling": SCALING}
FIXED = (
    text_option("nodes", "The nodes: .csv or .tsv (also .gz), .parquet, or .graphml with the edges in it.", TABLES, "FILE"),
    text_option("edges", "The edges, one per row.", TABLES, "FILE"),
    text_option("id", "Column with the node ids. This and the next four are found by their usual names.", TABLES),
    text_option("label", "Column with the labels. Nodes with an empty cell get one.", TABLES),
    text_option("source", "Column with the first node of an edge.", TABLES),
    text_option("target", "Column with the second node of an edge.", TABLES),
    text_option("weight", "Column with the edge weights.", TABLES),
    text_option("split", "Column that marks labelled nodes as train, val or test. Default: all train.", TABLES),
    text_option(
        "features",
        "Feature columns, separated by commas, with their kind where the guess would be wrong (age,bio:text; number, "
        "category or text); a .npz or .npy file with one row per node; or none for the graph's structure. Default: every "
        "other column.",
        TABLES,
        "WHAT",
    ),
    text_option("delimiter", "Delimiter of text tables. Default: comma, or tab in .tsv.", TABLES, "CHAR"),
    text_option("out", "The folder to write.", RESULT, "DIR"),
    text_option("abstain", "Leave nodes unlabelled below the confidence that gives this accuracy, such as 0.9.", RESULT, "FLOAT"),
    text_option("folds", "Folds of cross-fitting to calibrate confidence with; 0 turns it off. Default 5.", RESULT, "INT"),
    text_option("format", "Format of the predictions: csv or parquet. Default csv.", RESULT, "WORD"),
    text_option("seed", "Random seed. Default 0.", RESULT, "INT"),
    method_option("The method; ncgc methods lists them. auto chooses one by cross-validation. Default ncgc."),
    text_option("budget", "Seconds that --method auto may take to choose. Default 300.", METHOD, "FLOAT"),
    SET,
    text_option("config", "Read settings from a TOML file, such as an earlier config.toml. Options override it.", RESULT, "FILE"),
    switch("no_report", "Write no report.html.", RESULT),
    switch("overwrite", "Replace an earlier run in --out.", RESULT),
    switch("as_json", "Print one JSON object to stdout, all else to stderr.", RESULT, "--json"),
    switch("quiet", "Show only the result.", RESULT),
)  # fmt: skip
_NUMBERS: dict[str, Callable[[str], Any]] = {"folds": int, "seed": int, "abstain": float, "budget": float}
_OUTPUT = ("out", "config", "no_report", "overwrite", "as_json", "quiet", "sets")


def fit_command() -> Callable[..., int]:
    """Make the command, with an option for every declared parameter.

    Returns:
        A function for typer; its docstring is the help.
    """

    def fit(**given: Any) -> int:
        """Label the nodes of your own graph: tables in, a folder with labels, a model and a report out."""
        fixed = {parameter.name: given.pop(parameter.name) for parameter in FIXED}
        output = {name: fixed.pop(name) for name in _OUTPUT}
        return _fit(_settings(fixed, given, output), output)

    return with_options(fit, [*FIXED, *(option(parameter) for parameter in PARAMETERS.values())])


# ---------------------------------------------------------------- settings


def _settings(fixed: dict[str, Any], given: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
    """Options over the configuration file over what is recommended for the method."""
    settings = {"parameters": {}} if output["config"] is None else read_settings(output["config"], TableSource)
    before = settings.get("method", DEFAULT_METHOD)
    for name, text in fixed.items():
        if text is not None:
            settings[name] = _number(name, text) if name in _NUMBERS else text
    method = settings.get("method", DEFAULT_METHOD)
    parameters = settings["parameters"] if method == before else {}
    if given.get("scaling") is not None:
        SCALING.check(given["scaling"], "ncgc fit")  # by the name it has here
    texts = {"features" if name == "scaling" else name: text for name, text in given.items() if text is not None}
    if method == AUTO and (texts or output["sets"]):
        name = next(iter(texts), None) or output["sets"][0].partition("=")[0]
        raise ParameterError(f"--method auto takes no parameters. Got {name!r}; name a method.")
    parameters = {**parameters, **given_parameters(texts, output["sets"], method)}
    if "nodes" not in settings:
        raise ParameterError("Which nodes? Give --nodes and --edges, or a --config that names them.")
    return {**settings, "parameters": recommended(method, parameters)}


def _number(name: str, text: str) -> Any:
    try:
        return _NUMBERS[name](text)
    except ValueError:
        raise ParameterError(f"--{name} takes a number. Got {text!r} instead.") from None


# ---------------------------------------------------------------- running


def _fit(settings: dict[str, Any], output: dict[str, Any]) -> int:
    if output["out"] is None:
        raise ParameterError("Where to? Give a folder to write with --out.")
    folder = Path(output["out"])
    check_folder(folder, output["overwrite"])
    spec = RunSpec.from_settings(settings)
    screen = Screen(to_stderr=output["as_json"], quiet=output["quiet"])
    result = _run(spec, screen)
    if result is None:
        return complain("Interrupted; nothing was written.", prefix="", code=130)
    from ncgc.runs.folder import write_fit_folder
    from ncgc.runs.result import json_line

    _show(result, screen)
    if not output["no_report"]:
        screen.rows([("report", "drawing the map")])
    write_fit_folder(folder, result, output["overwrite"], report=not output["no_report"])
    screen.rows([("written", str(folder))])
    if not result.model.inductive:
        method = result.spec.method
        screen.rows([("note", f"{method} labels only the nodes of its own graph: no model for ncgc predict.")])
    if output["as_json"]:
        typer.echo(json_line(result.to_dict()))
    return 0


def _run(spec: RunSpec, screen: Screen) -> RunResult | None:
    """The run, shown on the screen; None after Ctrl-C."""
    from ncgc.cli.progress import ScreenObserver
    from ncgc.runs.execute import execute
    from ncgc.runs.load import LabelledGraph
    from ncgc.selection.auto import Choice

    class Fitting(ScreenObserver):
        """Shows the graph and how a method is chosen."""

        candidates = 0

        def loaded(self, data: LabelledGraph) -> None:
            notes = [] if data.tables is None else data.tables.notes
            rows = [("graph", graph_line(data.graph)), ("labels", split_line(data.split))]
            screen.rows([*rows, *(("" if number else "note", note) for number, note in enumerate(notes))])

        def tried(self, sentence: str) -> None:
            screen.rows([("" if self.candidates else "tried", sentence)])
            self.candidates += 1

        def chosen(self, choice: Choice) -> None:
            screen.rows([("method", f"{choice.method}: {choice.reason}")])

    observer = Fitting(screen)
    result = execute(spec, observer=observer)
    return None if observer.interrupted or result.interrupted else result


# ---------------------------------------------------------------- showing


def split_line(split: Split) -> str:
    """The number of labels for each use, in words.

    Args:
        split: the labelled nodes.

    Returns:
        Such as "40 for training, 10 for testing"; parts without labels are left out.
    """
    parts = ((split.train, "for training"), (split.val, "for validation"), (split.test, "for testing"))
    return ", ".join(f"{len(nodes):,} {use}" for nodes, use in parts if len(nodes))


def _show(result: RunResult, screen: Screen) -> None:
    """The result in a few rows."""
    metrics, abstain = result.to_dict(), result.spec.abstain
    words = [f"{metrics['predicted']:,} of {metrics['nodes']:,} nodes labelled from {count(metrics['given'], 'label')}"]
    if metrics["mean_confidence"] is not None:
        words.append(f"mean confidence {metrics['mean_confidence']:.2f}")
    rows = [("result", "; ".join(words))]
    if abstain is not None:
        left = f"{metrics['withheld']:,} nodes left unlabelled, for an accuracy of {percent(abstain)}"
        rows.append(("abstain", left + (": no confidence gives that accuracy" if metrics["threshold"] is None else "")))
    if metrics["calibrated"] is not None:
        error = metrics["calibration_error"]
        rows.append(("confidence", metrics["calibrated"] + ("" if error is None else f", error {error:.3f}")))
    for part in ("val", "test"):
        if metrics[f"{part}_accuracy"] is not None:
            rows.append((part, f"accuracy {percent(metrics[f'{part}_accuracy'])}"))
    kept = f", epoch {metrics['best_epoch']} of {metrics['epochs']} kept" if metrics["epochs"] else ""
    rows.append(("took", seconds(metrics["seconds"]) + kept))
    screen.rows(rows)
    if screen.quiet:
        screen.say(words[0], result=True)
