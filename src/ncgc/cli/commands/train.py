"""`ncgc train`: train on a data set, as often as asked, show how good it is, and write it down.

The options are made from `ncgc.params.parameter.PARAMETERS` and `ncgc.runs.config.RUN`: none is declared here a second time.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgc.cli.distributed_options import OPTIONS, Scale
from ncgc.cli.method_options import SET, given_parameters, method_option, method_settings
from ncgc.cli.options import keyword, option, value_of
from ncgc.cli.screen import Screen, Watch, complain, count, percent, seconds
from ncgc.datasets.catalogue import CATALOGUE
from ncgc.errors import ParameterError
from ncgc.files import check_folder
from ncgc.params.presets import DEFAULT_PRESET, recipe
from ncgc.runs.config import HYPER, OURS, RUN, RunConfig, Settings, check_setting, make_estimator, read_config
from ncgc.runs.result import INTERRUPTED, RunResult, deviation, json_line, mean, summary, write_results

if TYPE_CHECKING:
    from ncgc.datasets import Split
    from ncgc.graph import Graph

NAMES = ", ".join(CATALOGUE)
words: list[str] = []  # of the command at hand, for the processes that --distributed starts
_PANEL = "Files and output"
FIXED = (
    inspect.Parameter(
        "name",
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=None,
        annotation=Annotated[
            str | None, typer.Argument(metavar="NAME", help=f"The data set: {NAMES}.", show_default=False)
        ],
    ),
    method_option("Another method than NCGC: ncgc methods lists them. Default ncgc."),
    SET,
    keyword(
        "config",
        Annotated[
            Path | None,
            typer.Option(
                "--config",
                metavar="FILE",
                help="Settings in TOML; options override it.",
                rich_help_panel=_PANEL,
            ),
        ],
        None,
    ),
    keyword(
        "preset",
        Annotated[
            str | None,
            typer.Option(
                "--settings",
                metavar="NAME",
                help="Named hyper-parameters for this backbone and data set: default, tuned or paper. Default "
                f"{DEFAULT_PRESET}; options override them.",
                rich_help_panel=_PANEL,
            ),
        ],
        None,
    ),
    keyword(
        "data",
        Annotated[
            Path | None,
            typer.Option(
                "--data", metavar="DIR", help="A folder to look for data sets in first.", rich_help_panel=_PANEL
            ),
        ],
        None,
    ),
    keyword(
        "out",
        Annotated[
            Path | None,
            typer.Option(
                "--out",
                metavar="DIR",
                help="Write config.toml, metrics.json, history and predictions there.",
                rich_help_panel=_PANEL,
            ),
        ],
        None,
    ),
    keyword(
        "overwrite",
        Annotated[bool, typer.Option("--overwrite", help="Replace earlier results in --out.", rich_help_panel=_PANEL)],
        False,
    ),
    keyword(
        "as_json",
        Annotated[
            bool,
            typer.Option("--json", help="One JSON object on stdout, the rest on stderr.", rich_help_panel=_PANEL),
        ],
        False,
    ),
    keyword(
        "quiet", Annotated[bool, typer.Option("--quiet", help="Show the result alone.", rich_help_panel=_PANEL)], False
    ),
    *OPTIONS,
)


def train_command() -> Callable[..., int]:
    """The verb, with an option for every declared parameter."""

    def train(**given: Any) -> int:
        """Train NCGC or another method and show how well it labels the test nodes."""
        fixed = {parameter.name: given.pop(parameter.name) for parameter in FIXED}
        scale = Scale(**{parameter.name: fixed.pop(parameter.name) for parameter in OPTIONS})
        return _train({name: text for name, text in given.items() if text is not None}, scale=scale, **fixed)

    run, hyper = ([option(parameter) for parameter in table.values()] for table in (RUN, HYPER))
    signature = inspect.Signature([FIXED[0], *run, *FIXED[1:], *hyper])  # in the order of the help
    train.__signature__ = signature  # type: ignore[attr-defined]
    train.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return train


def _settings(texts: dict[str, Any], sets: list[str] | None, method: str) -> Settings:
    """The options that were given, as checked values."""
    run = {name: value_of(RUN[name], text) for name, text in texts.items() if name in RUN}
    settings = run | given_parameters({name: text for name, text in texts.items() if name not in RUN}, sets, method)
    for name, value in settings.items():
        check_setting(name, value, method)
    return settings


def _train(
    texts: dict[str, Any],
    name: str | None,
    method: str | None,
    sets: list[str] | None,
    config: Path | None,
    preset: str | None,
    data: Path | None,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
    scale: Scale,
) -> int:
    read = {} if config is None else read_config(config)
    chosen = method or read.get("method", OURS)
    given = read if chosen == read.get("method", OURS) else {key: read[key] for key in read if key in (*RUN, "dataset")}
    given = given | _settings(texts, sets, chosen) | {"method": chosen} | ({} if name is None else {"dataset": name})
    if "dataset" not in given:
        raise ParameterError(f"Which data set? Give one of {NAMES}, or a --config that names one.")
    dataset = RunConfig.from_layers(given).dataset
    if chosen == OURS:
        run = RunConfig.from_layers(recipe(given, dataset, preset or DEFAULT_PRESET), given)
    else:
        run = RunConfig.from_layers(method_settings(chosen, dataset, preset), given)
    inside = "WORLD_SIZE" in os.environ and "RANK" in os.environ
    if (scale.distributed or inside or scale.checkpoint is not None) and chosen != OURS:
        raise ParameterError(f"{chosen} trains in one process, without checkpoints; only ncgc does otherwise.")
    if out is not None and os.environ.get("RANK", "0") == "0":
        check_folder(out, overwrite)
    if scale.distributed and not inside:
        from ncgc.training.engines.distributed.launch import launch

        return launch([word for word in words if word != "--distributed"], scale.processes)
    from ncgc.datasets import load_dataset  # slow from here on: torch

    if inside:
        from ncgc.training.engines.distributed.group import Group

        scale.group = Group.join(scale.timeout)
    screen = Screen(to_stderr=as_json, quiet=quiet) if scale.talks else Screen(to_stderr=True, quiet=True)
    whole = run.parameters.get("batch") != "full"  # parts are cut with a halo of any depth
    graph = scale.read(lambda: load_dataset(run.dataset, root=data), whole)
    results, interrupted = _runs(run, graph, screen, scale)
    if scale.group is not None:
        scale.group.leave()
    if not scale.talks:
        return 130 if interrupted else 0
    _show_end(run, results, screen)
    if scale.account is not None:
        screen.facts(scale.account.lines())
    if out is not None:
        write_results(out, run, results, overwrite)
        screen.facts([("written", str(out))])
    if as_json:
        ranks = {} if scale.account is None else {"distributed": scale.account.to_dict()}
        typer.echo(json_line(summary(run, results) | ranks))
    return 130 if interrupted else 0


def _runs(run: RunConfig, graph: Graph, screen: Screen, scale: Scale) -> tuple[list[RunResult], bool]:
    """The results of every run, or of those until Ctrl-C, and whether it was pressed."""
    results: list[RunResult] = []
    try:
        for seed in run.seeds:
            result, interrupted = _one(run, seed, graph, screen, scale)
            if result is None:  # another process tells
                if interrupted:
                    return results, True
                continue
            results.append(result)
            _show(result, screen)
            if interrupted:
                complain(_interruption(run, results), prefix="")
                return results, True
    except KeyboardInterrupt:  # between two trainings
        if not results:
            raise
        complain(_interruption(run, results), prefix="")
        return results, True
    return results, False


def _one(run: RunConfig, seed: int, graph: Graph, screen: Screen, scale: Scale) -> tuple[RunResult | None, bool]:
    from ncgc.cli.progress import fit
    from ncgc.datasets import make_split

    sizes = {"labels_per_class": run.labels_per_class, "val_per_class": run.val_per_class}
    split = make_split(graph, run.split, seed=seed, **sizes)
    if seed == run.seed:
        screen.facts([(graph.name, graph_line(graph)), ("split", split_line(split)), ("model", model_line(run))])
    model = make_estimator(run.method, run.parameters, seed)
    how = partial(_scaled, scale, model, graph, split, scale.folder(seed, run.runs), screen) if scale.asked else None
    interrupted = fit(model, graph, split, screen, f"seed {seed}", how)
    return RunResult.of(model, seed) if scale.talks else None, interrupted


def _scaled(
    scale: Scale, model: Any, graph: Graph, split: Split, folder: Path | None, screen: Screen, watch: Watch
) -> None:
    scale.fit(model, graph, split, watch, folder, screen)


def graph_line(graph: Graph) -> str:
    counts = ((graph.num_nodes, "node"), (graph.num_edges, "edge"), (graph.num_features, "feature"))
    return ", ".join(count(*pair) for pair in (*counts, (graph.num_classes, "class")))


def split_line(split: Split) -> str:
    sizes = ", ".join(
        f"{len(nodes):,} {part}" for part, nodes in (("train", split.train), ("val", split.val), ("test", split.test))
    )
    return f"{split.name}: {sizes}"


def model_line(run: RunConfig) -> str:
    """The backbone, its size, and which parts of the method are on; of another method its name and settings."""
    values = run.parameters
    if run.method != OURS:
        from ncgc.models.registry import find_method

        return f"{find_method(run.method).title}, " + ", ".join(f"{name} {value}" for name, value in values.items())
    parts = [f"β {values['beta']:g}"] if values["soft_orthogonality"] and values["beta"] else []
    parts += [name.upper() for name in ("kl", "pl") if values[name]]
    size = f"{values['num_layers']} × {values['hidden']}"
    return f"{values['backbone']} {size}, " + (", ".join(parts) if parts else "plain")


def _show(result: RunResult, screen: Screen) -> None:
    words = [f"test {percent(result.test_accuracy)}"]
    words += [] if result.val_accuracy is None else [f"val {percent(result.val_accuracy)}"]
    words += [f"epoch {result.best_epoch}/{result.epochs}"] if result.epochs else []
    words += [seconds(result.seconds)]
    screen.facts([(f"seed {result.seed}", "  ".join(words))])


def _show_end(run: RunConfig, results: list[RunResult], screen: Screen) -> None:
    accuracies = [result.test_accuracy for result in results]
    if len(results) == 1:
        if results[0].termination != INTERRUPTED and results[0].epochs:
            screen.facts([("ended", f"{results[0].termination}; epoch {results[0].best_epoch} is kept")])
        if screen.quiet:
            screen.say(f"test {percent(accuracies[0])}", result=True)
        return
    centre, spread = mean(accuracies), deviation(accuracies)
    text = "none" if centre is None else f"{100 * centre:.1f} ± {100 * (spread or 0):.1f} %"
    label = "" if screen.quiet else f"{'mean':<{screen.margin}}  "
    screen.say(f"{label}test {text} over {len(results)} runs", result=True)


def _interruption(run: RunConfig, results: list[RunResult]) -> str:
    last, left = results[-1], run.runs - len(results)
    skipped = f"; {count(left, 'run')} not started" if left else ""
    if last.termination == INTERRUPTED:
        return f"Interrupted after epoch {last.epochs} of seed {last.seed}; its best weights so far are used{skipped}."
    return f"Interrupted after seed {last.seed}{skipped}."
