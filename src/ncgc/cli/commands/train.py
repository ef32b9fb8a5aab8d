"""`ncgc train`: train on a data set, once or several times, show how good it is, and write the results.

The options are made from the declarations of NCGC's parameters and of a run's settings; none is declared here again.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgc.cli.distributed_options import OPTIONS, DistributedOptions
from ncgc.cli.options import (
    HYPER_PARAMETERS,
    SET,
    given_parameters,
    method_option,
    option,
    switch,
    text_option,
    value_of,
    with_options,
)
from ncgc.cli.screen import Screen, Watch, complain, count, graph_line, percent, seconds
from ncgc.datasets.catalogue import CATALOGUE
from ncgc.errors import ParameterError, PeerError
from ncgc.files import check_folder
from ncgc.params.presets import DEFAULT_PRESET
from ncgc.runs.settings_file import read_settings
from ncgc.runs.source import DATASET_SETTINGS, RUN_SETTINGS, DatasetSource
from ncgc.runs.spec import DEFAULT_METHOD, RunSpec, defaults_of, find_classifier, recommended

if TYPE_CHECKING:
    from ncgc.datasets import Split
    from ncgc.graph import Graph
    from ncgc.runs.result import RunResult

NAMES = ", ".join(CATALOGUE)
FILES = "Files and output"
RUN = {name: row for name, row in (DATASET_SETTINGS | RUN_SETTINGS).items() if row.group == "Run" and name != "blind"}
NAME = inspect.Parameter(
    "name",
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    default=None,
    annotation=Annotated[
        str | None, typer.Argument(metavar="NAME", help=f"The data set: {NAMES}.", show_default=False)
    ],
)
CONTEXT = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
FIXED = (
    method_option("The method; ncgc methods lists them. Default ncgc."),
    SET,
    text_option("config", "Read settings from a TOML file. Options override it.", FILES, "FILE", Path),
    text_option(
        "settings",
        "Recommended hyper-parameters for the backbone and data set: default, tuned or paper. Options override them. "
        f"Default {DEFAULT_PRESET}.",
        FILES,
    ),
    text_option("data", "Look for data sets in this folder first.", FILES, "DIR", Path),
    text_option("out", "Write config.toml, metrics.json, history and predictions to this folder.", FILES, "DIR", Path),
    switch("overwrite", "Replace earlier results in --out.", FILES),
    switch("as_json", "Print one JSON object to stdout, all else to stderr.", FILES, "--json"),
    switch("quiet", "Show only the result.", FILES),
)


def train_command() -> Callable[..., int]:
    """Make the command, with an option for every declared parameter.

    Returns:
        A function for typer; its docstring is the help.
    """

    def train(context: typer.Context, **given: Any) -> int:
        """Train NCGC or another method and show how well it labels the test nodes."""
        fixed = {parameter.name: given.pop(parameter.name) for parameter in (NAME, *FIXED)}
        distributed = DistributedOptions(**{parameter.name: given.pop(parameter.name) for parameter in OPTIONS})
        texts = {name: text for name, text in given.items() if text is not None}
        return _train(texts, fixed, distributed, context.find_root().obj)

    run, hyper = ([option(row) for row in table.values()] for table in (RUN, HYPER_PARAMETERS))
    return with_options(train, [NAME, *run, *FIXED, *OPTIONS, *hyper, CONTEXT])  # in the order of the help


def _train(texts: dict[str, Any], fixed: dict[str, Any], distributed: DistributedOptions, words: list[str]) -> int:
    """Read the settings, run, show and write; the exit code."""
    spec = _spec(texts, fixed)
    distributed.check_method(spec.method, find_classifier(spec.method))
    out, overwrite = fixed["out"], fixed["overwrite"]
    if out is not None and os.environ.get("RANK", "0") == "0":
        check_folder(out, overwrite)
    if distributed.distributed and not distributed.in_group:
        from ncgc.cli.processes import launch

        return launch([word for word in words if word != "--distributed"], distributed.processes)
    from ncgc.runs.folder import write_train_folder
    from ncgc.runs.result import json_line, summary

    distributed.join()
    as_json, quiet = fixed["as_json"], fixed["quiet"]
    screen = Screen(to_stderr=as_json, quiet=quiet) if distributed.first else Screen(to_stderr=True, quiet=True)
    results, interrupted = _runs(spec, _read(spec, fixed["data"], distributed), screen, distributed)
    distributed.leave()
    if distributed.first:
        _show_end(results, screen)
        communication = results[-1].communication
        if communication is not None:
            screen.rows(communication.lines())
        if out is not None:
            write_train_folder(out, spec, results, overwrite)
            screen.rows([("written", str(out))])
        if as_json:
            ranks = {} if communication is None else {"distributed": communication.to_dict()}
            typer.echo(json_line(summary(spec, results) | ranks))
    return 130 if interrupted else 0


# ---------------------------------------------------------------- settings


def _spec(texts: dict[str, Any], fixed: dict[str, Any]) -> RunSpec:
    """Options over the configuration file over what is recommended for the method over defaults."""
    settings = {} if fixed["config"] is None else read_settings(fixed["config"], DatasetSource)
    before = settings.get("method", DEFAULT_METHOD)
    method = fixed["method"] or before
    find_classifier(method)  # an unknown one first: its parameters are then unknown too
    parameters = settings.pop("parameters", {}) if method == before else {}
    run = {name: value_of(RUN[name], text) for name, text in texts.items() if name in RUN}
    parameters |= given_parameters(
        {name: text for name, text in texts.items() if name not in RUN}, fixed["sets"], method
    )
    settings |= run | {"method": method, "parameters": parameters}
    if fixed["name"] is not None:
        settings["dataset"] = fixed["name"]
    if "dataset" not in settings:
        raise ParameterError(f"Which data set? Give one of {NAMES}, or a --config that names one.")
    name = RunSpec.from_settings(settings).dataset.name  # checked before anything is added
    added = recommended(method, parameters, name, fixed["settings"] or DEFAULT_PRESET)
    return RunSpec.from_settings(settings | {"parameters": defaults_of(method) | added})


def _read(spec: RunSpec, root: Path | None, distributed: DistributedOptions) -> Graph:
    """The data set, read once for all runs."""
    from ncgc.datasets import load_dataset

    whole = spec.parameters.get("batch") != "full"  # parts are cut with a halo of any depth
    return distributed.read(lambda: load_dataset(spec.dataset.name, root=root), whole)


# ---------------------------------------------------------------- running


def _runs(spec: RunSpec, graph: Graph, screen: Screen, distributed: DistributedOptions) -> tuple[list[RunResult], bool]:
    """The results of every run, or of those until Ctrl-C, and whether it was pressed."""
    results: list[RunResult] = []
    try:
        for seed in spec.seeds:
            result, interrupted = _one(spec, seed, graph, screen, distributed)
            results.append(result)
            if distributed.first:
                _show(result, screen)
            if interrupted:
                if distributed.first:
                    complain(_interruption(spec, results), prefix="")
                return results, True
    except KeyboardInterrupt:  # between two trainings
        if not results:
            raise
        complain(_interruption(spec, results), prefix="")
        return results, True
    return results, False


def _one(
    spec: RunSpec, seed: int, graph: Graph, screen: Screen, distributed: DistributedOptions
) -> tuple[RunResult, bool]:
    from ncgc.cli.progress import ScreenObserver
    from ncgc.runs.execute import execute
    from ncgc.runs.load import LabelledGraph

    class Training(ScreenObserver):
        """Shows graph, split and model before the first run."""

        def begins(self, model: Any, data: LabelledGraph) -> None:
            if seed == spec.seed:
                rows = [
                    (graph.name, graph_line(graph)),
                    ("split", split_line(data.split)),
                    ("model", model.description),
                ]
                screen.rows(rows)

        @contextmanager
        def working(self, stage: str, epochs: int) -> Iterator[Watch]:
            with super().working(stage, epochs) as watch:
                yield distributed.together(watch)

    observer = Training(screen, f"seed {seed}")
    checkpoint = distributed.checkpointing(seed, spec.runs)
    try:
        one = spec.with_seed(seed)
        result = execute(one, observer=observer, graph=graph, checkpoint=checkpoint, group=distributed.group)
    except PeerError as error:
        resume = "" if checkpoint is None else f" with --checkpoint {checkpoint.folder} --resume to go on"
        raise PeerError(f"{str(error).rstrip('.')}; start again{resume}.") from None
    return result, observer.interrupted


# ---------------------------------------------------------------- showing


def split_line(split: Split) -> str:
    """The name and the sizes of a split, in words.

    Args:
        split: the split.

    Returns:
        Such as "public: 140 train, 500 val, 1,000 test".
    """
    parts = (("train", split.train), ("val", split.val), ("test", split.test))
    return f"{split.name}: " + ", ".join(f"{len(nodes):,} {part}" for part, nodes in parts)


def _show(result: RunResult, screen: Screen) -> None:
    metrics = result.metrics
    words = [f"test {percent(metrics['test_accuracy'])}"]
    words += [] if metrics["val_accuracy"] is None else [f"val {percent(metrics['val_accuracy'])}"]
    words += [f"epoch {metrics['best_epoch']}/{metrics['epochs']}"] if metrics["epochs"] else []
    screen.rows([(f"seed {result.spec.seed}", "  ".join([*words, seconds(metrics["seconds"])]))])


def _show_end(results: list[RunResult], screen: Screen) -> None:
    from ncgc.runs.result import deviation, mean

    accuracies = [result.metrics["test_accuracy"] for result in results]
    if len(results) == 1:
        metrics = results[0].metrics
        if not results[0].interrupted and metrics["epochs"]:
            screen.rows([("ended", f"{metrics['termination']}; epoch {metrics['best_epoch']} is kept")])
        if screen.quiet:
            screen.say(f"test {percent(accuracies[0])}", result=True)
        return
    centre, spread = mean(accuracies), deviation(accuracies)
    text = "none" if centre is None else f"{100 * centre:.1f} ± {100 * (spread or 0):.1f} %"
    label = "" if screen.quiet else f"{'mean':<{screen.margin}}  "
    screen.say(f"{label}test {text} over {len(results)} runs", result=True)


def _interruption(spec: RunSpec, results: list[RunResult]) -> str:
    last, left = results[-1], spec.runs - len(results)
    skipped = f"; {count(left, 'run')} not started" if left else ""
    if last.interrupted:
        epochs = last.metrics["epochs"]
        return f"Interrupted after epoch {epochs} of seed {last.spec.seed}; its best weights so far are used{skipped}."
    return f"Interrupted after seed {last.spec.seed}{skipped}."
