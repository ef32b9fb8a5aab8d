"""`ncgc bench`: the verbs put together, and those that have no plan of runs: speed, figures and show scale."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ncgc.cli.help import Command, Group
from ncgc.cli.screen import Screen
from ncgc.datasets.catalogue import find_info
from ncgc.errors import ParameterError
from ncgc.files import check_folder
from ncgc_bench.cli.plan_options import OPTIONS, check_names, words
from ncgc_bench.cli.plan_verbs import RUN_OPTIONS, SHOW_OPTIONS, run_plan, show_plan, verb
from ncgc_bench.plans import DATASETS
from ncgc_bench.render import as_markdown, as_text
from ncgc_bench.store import FOLDER, Store

SCALE_FORMATS = ("text", "markdown")
SCALE_FILE = "scale.jsonl"

app = typer.Typer(name="bench", cls=Group, no_args_is_help=False, rich_markup_mode="rich", add_completion=False)
show_app = typer.Typer(name="show", cls=Group, rich_markup_mode="rich", add_completion=False)


def speed(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATASET", help="Data sets. Default: the paper's seven.", show_default=False),
    ] = None,
    backbone: Annotated[
        str, typer.Option("--backbone", metavar="WORD", help="gcn or gat, at the paper's settings. Default gcn.")
    ] = "gcn",
    heads: Annotated[int, typer.Option("--heads", metavar="INT", help="Attention heads of GAT. Default 1.")] = 1,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="INT", help="Timed rounds of each implementation. Default 7.")
    ] = 7,
    memory: Annotated[
        bool, typer.Option("--memory", help="Also measure peak memory, and the speed-up from keeping freed memory.")
    ] = False,
    methods: Annotated[
        bool, typer.Option("--methods", help="Instead time an epoch of every other method beside its PyG reference.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per data set, the means last.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Look for data sets in this folder first.")
    ] = None,
    show: Annotated[
        Path | None, typer.Option("--show", metavar="FILE", help="Show the table of an earlier --json output.")
    ] = None,
) -> int:
    """Time a whole training epoch beside the same model on PyTorch Geometric layers."""
    names = [find_info(name).name for name in datasets or ()]
    from ncgc_bench.speed.command import compare, compare_methods
    from ncgc_bench.speed.epochs import Options
    from ncgc_bench.speed.tables import as_table, read_rows

    if show is not None:
        typer.echo(as_table(read_rows(show)))
        return 0
    options = Options(backbone, heads, rounds, memory, None if data is None else str(data))
    (compare_methods if methods else compare)(names or DATASETS, options, as_json)
    return 0


def figures(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write. Default docs/figures.")
    ] = Path("docs/figures"),
    settings: Annotated[
        str,
        typer.Option(
            "--settings",
            metavar="NAME",
            help="The settings whose results are drawn: default, paper, … Default default.",
        ),
    ] = "default",
    formats: Annotated[
        str, typer.Option("--formats", metavar="NAMES", help="svg, pdf or png, separated by commas. Default svg.")
    ] = "svg",
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help=f"Where results are stored. Default {FOLDER}.")
    ] = FOLDER,
) -> int:
    """Draw the figures of all stored runs: sweeps, ablation, accuracy against labels and against time."""
    if find_spec("matplotlib") is None:
        raise ParameterError("Figures need matplotlib, which is not installed; pip install 'ncgc[bench]'.")
    from ncgc_bench.figures import draw_all

    check_folder(out, overwrite=True)
    store = Store(results)
    drawn = draw_all(store, out, settings, words(formats, "--formats"))
    screen = Screen()
    for path in drawn:
        screen.console.print(str(path), soft_wrap=True)
    if not drawn:
        screen.say(f"{results} holds nothing to draw yet; make some runs with 'ncgc bench sweep' and the like.")
    return 0


def show_scale(
    form: Annotated[
        str, typer.Option("--format", metavar="WORD", help=f"One of {', '.join(SCALE_FORMATS)}. Default text.")
    ] = "text",
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="DIR", help=f"The folder that {SCALE_FILE} is in.", show_default=False),
    ] = None,
) -> int:
    """Show how reading, training by parts and memory grow with the number of nodes, as measured."""
    check_names([form], SCALE_FORMATS, "format")
    from ncgc_bench.scaling.tables import read_rows, tables

    for table in tables(read_rows((FOLDER if results is None else results) / SCALE_FILE)):
        typer.echo()
        typer.echo(as_text(table) if form == "text" else as_markdown(table))
    typer.echo()
    return 0


def _without_verb(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for _kind in OPTIONS:
    app.command(_kind, cls=Command)(verb(_kind, RUN_OPTIONS, run_plan))
    show_app.command(_kind, cls=Command)(verb(_kind, SHOW_OPTIONS, show_plan))
show_app.command("scale", cls=Command)(show_scale)
show_app.callback(invoke_without_command=True, help="Print an experiment's table from the store; nothing is trained.")(
    _without_verb
)
app.command(cls=Command)(speed)
app.add_typer(show_app)
app.command(cls=Command)(figures)
app.callback(
    invoke_without_command=True,
    help="Make the measured tables. Every run is stored as it ends, none is made twice, and a stopped command resumes.",
)(_without_verb)
