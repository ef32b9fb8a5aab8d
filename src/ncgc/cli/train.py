"""`ncgc train`: train on a data set, as often as asked, show how good it is, and write it down.

The options are made from `ncgc.parameters.PARAMETERS` and `ncgc.config.RUN`: none is declared here a second time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgc.bench.presets import preset as named_settings
from ncgc.cli.options import keyword, option, value_of
from ncgc.cli.results import INTERRUPTED, RunResult, deviation, json_line, mean, summary, write_results
from ncgc.cli.screen import Screen, complain, count, percent, seconds
from ncgc.config import HYPER, RUN, RunConfig, Settings, check_setting, read_config
from ncgc.datasets.catalogue import CATALOGUE
from ncgc.errors import ParameterError
from ncgc.files import check_folder

if TYPE_CHECKING:
    from ncgc.datasets import Split
    from ncgc.graph import Graph

NAMES = ", ".join(CATALOGUE)
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
                help="Hyper-parameters by name, for this data set and backbone: paper. Options override them.",
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
)


def train_command() -> Callable[..., int]:
    """The verb, with an option for every declared parameter."""

    def train(**given: Any) -> int:
        """Train NCGC on a data set and show how well it labels the test nodes."""
        fixed = {parameter.name: given.pop(parameter.name) for parameter in FIXED}
        return _train(settings=_settings(given), **fixed)

    run, hyper = ([option(parameter) for parameter in table.values()] for table in (RUN, HYPER))
    signature = inspect.Signature([FIXED[0], *run, *FIXED[1:], *hyper])  # in the order of the help
    train.__signature__ = signature  # type: ignore[attr-defined]
    train.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return train


def _settings(given: dict[str, Any]) -> Settings:
    """The options that were given, as checked values."""
    table = RUN | HYPER
    settings = {name: value_of(table[name], text) for name, text in given.items() if text is not None}
    for name, value in settings.items():
        check_setting(name, value)
    return settings


def _train(
    settings: Settings,
    name: str | None,
    config: Path | None,
    preset: str | None,
    data: Path | None,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    layers = [{} if config is None else read_config(config), settings, {} if name is None else {"dataset": name}]
    if not any("dataset" in layer for layer in layers):
        raise ParameterError(f"Which data set? Give one of {NAMES}, or a --config that names one.")
    run = RunConfig.from_layers(*layers)
    if preset is not None:
        run = RunConfig.from_layers(named_settings(preset, run.parameters["backbone"], run.dataset), *layers)
    if out is not None:
        check_folder(out, overwrite)
    from ncgc.datasets import load_dataset  # slow from here on: torch

    screen = Screen(to_stderr=as_json, quiet=quiet)
    graph = load_dataset(run.dataset, root=data)
    results, interrupted = _runs(run, graph, screen)
    _show_end(run, results, screen)
    if out is not None:
        write_results(out, run, results, overwrite)
        screen.facts([("written", str(out))])
    if as_json:
        typer.echo(json_line(summary(run, results)))
    return 130 if interrupted else 0


def _runs(run: RunConfig, graph: Graph, screen: Screen) -> tuple[list[RunResult], bool]:
    """The results of every run, or of those until Ctrl-C, and whether it was pressed."""
    results: list[RunResult] = []
    try:
        for seed in run.seeds:
            result, interrupted = _one(run, seed, graph, screen)
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


def _one(run: RunConfig, seed: int, graph: Graph, screen: Screen) -> tuple[RunResult, bool]:
    from ncgc.cli.fitting import fit
    from ncgc.datasets import make_split
    from ncgc.estimator import NCGC

    sizes = {"labels_per_class": run.labels_per_class, "val_per_class": run.val_per_class}
    split = make_split(graph, run.split, seed=seed, **sizes)
    if seed == run.seed:
        screen.facts([(graph.name, graph_line(graph)), ("split", split_line(split)), ("model", model_line(run))])
    model = NCGC(**run.parameters, random_state=seed)
    interrupted = fit(model, graph, split, screen, f"seed {seed}")
    return RunResult.of(model, seed), interrupted


def graph_line(graph: Graph) -> str:
    counts = ((graph.num_nodes, "node"), (graph.num_edges, "edge"), (graph.num_features, "feature"))
    return ", ".join(count(*pair) for pair in (*counts, (graph.num_classes, "class")))


def split_line(split: Split) -> str:
    sizes = ", ".join(
        f"{len(nodes):,} {part}" for part, nodes in (("train", split.train), ("val", split.val), ("test", split.test))
    )
    return f"{split.name}: {sizes}"


def model_line(run: RunConfig) -> str:
    """The backbone, its size, and which parts of the method are on."""
    values = run.parameters
    parts = [f"β {values['beta']:g}"] if values["soft_orthogonality"] and values["beta"] else []
    parts += [name.upper() for name in ("kl", "pl") if values[name]]
    size = f"{values['num_layers']} × {values['hidden']}"
    return f"{values['backbone']} {size}, " + (", ".join(parts) if parts else "plain")


def _show(result: RunResult, screen: Screen) -> None:
    words = [f"test {percent(result.test_accuracy)}"]
    words += [] if result.val_accuracy is None else [f"val {percent(result.val_accuracy)}"]
    words += [f"epoch {result.best_epoch}/{result.epochs}", seconds(result.seconds)]
    screen.facts([(f"seed {result.seed}", "  ".join(words))])


def _show_end(run: RunConfig, results: list[RunResult], screen: Screen) -> None:
    accuracies = [result.test_accuracy for result in results]
    if len(results) == 1:
        if results[0].termination != INTERRUPTED:
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
