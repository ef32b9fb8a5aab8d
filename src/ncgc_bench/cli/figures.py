"""`ncgc bench figures`: the figures of what the store holds."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ncgc.cli.screen import Screen
from ncgc.errors import ParameterError
from ncgc.files import check_folder
from ncgc_bench.cli.plan_options import words
from ncgc_bench.store import FOLDER, Store


def figures(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where they go. Default docs/figures.")] = Path(
        "docs/figures"
    ),
    settings: Annotated[
        str, typer.Option("--settings", metavar="NAME", help="Whose results: default, paper, … Default default.")
    ] = "default",
    formats: Annotated[
        str, typer.Option("--formats", metavar="NAMES", help="svg, pdf or png, with commas. Default svg.")
    ] = "svg",
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help=f"Where results are stored. Default {FOLDER}.")
    ] = FOLDER,
) -> int:
    """Draw what the store holds: sweeps, ablation, accuracy against labels and against time."""
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
