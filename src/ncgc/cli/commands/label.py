"""`ncgc label`: which nodes to label next, from a fitted run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ncgc.cli.screen import Screen


def label(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that 'ncgc fit' wrote, or a model folder.")],
    top: Annotated[
        int, typer.Option("--top", metavar="INT", help="Number of nodes to suggest. Default 20.", show_default=False)
    ] = 20,
    csv: Annotated[bool, typer.Option("--csv", help="Print a CSV table to stdout.")] = False,
) -> int:
    """Suggest which nodes to label next: those the model is uncertain about, with uncertain nodes around them."""
    from ncgc.io.predictions import csv_bytes
    from ncgc.models.stored import load_model  # slow from here on: torch
    from ncgc.selection.active import suggest_labels, suggestions_frame

    model = load_model(run)
    chosen = suggest_labels(model.graph_, model.predict_proba(), model.graph_.labels, top)
    frame = suggestions_frame(model.graph_, model.predict_proba(), chosen)
    if csv:
        typer.echo(csv_bytes(frame).decode(), nl=False)
        return 0
    screen = Screen()
    if not len(frame):
        screen.say("Every node has a label; there is nothing to suggest.")
        return 0
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("node", overflow="fold")
    table.add_column("guess", overflow="fold")
    for name in ("confidence", "uncertainty", "reach", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in frame.itertuples():
        figures = (row.confidence, row.uncertainty, row.reach, row.score)
        table.add_row(Text(str(row.id)), Text(str(row.guess)), *(f"{figure:.2f}" for figure in figures))
    screen.say(table)
    return 0
