"""`ncgc methods`: what there is to compare with, or to use instead."""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.table import Table

from ncgc.cli.results import json_line
from ncgc.cli.screen import Screen


def methods(as_json: Annotated[bool, typer.Option("--json", help="The list as JSON on stdout.")] = False) -> None:
    """List the methods that train and fit take, with their papers, families and cost."""
    from ncgc.methods import METHODS

    ours = {
        "name": "ncgc",
        "title": "NCGC",
        "paper": "this package",
        "family": "ours",
        "cost": "a backbone's, and K² to d² numbers more",
    }
    rows = [ours] + [
        {"name": name, "title": kind.title, "paper": kind.paper, "family": kind.family, "cost": kind.cost}
        for name, kind in METHODS.items()
    ]
    if as_json:
        typer.echo(json_line(rows))
        return
    screen = Screen()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("name", style="bold cyan", no_wrap=True)
    for title in ("family", "paper", "cost"):
        table.add_column(title)
    for row in rows:
        table.add_row(row["name"], row["family"], row["paper"], row["cost"])
    screen.say(table)
    screen.say()
    screen.say("Use one with: ncgc train cora --method NAME, ncgc fit … --method NAME; its parameters with --set.")
