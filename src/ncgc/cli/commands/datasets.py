"""`ncgc datasets`: what can be trained on by name, and whether it is here."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ncgc.cli.screen import Screen
from ncgc.datasets.catalogue import DatasetInfo
from ncgc.runs.result import json_line


def datasets(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="A folder to look for data sets in first.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The list as JSON on stdout.")] = False,
) -> None:
    """List the data sets, their size, and where each one is or would come from."""
    from ncgc.datasets import available

    found = available(data)
    if as_json:
        typer.echo(json_line([as_dict(info) for info in found]))
        return
    screen = Screen()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("name", style="bold cyan", no_wrap=True)
    for title in ("nodes", "edges", "features", "classes"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("here", no_wrap=True)
    for info in found:
        sizes = (info.nodes, info.edges, info.features, info.classes)
        here = "yes" if info.here else "no"
        table.add_row(info.name, *(f"{size:,}" for size in sizes), here, style="" if info.here else "dim")
    screen.say(table)
    screen.say()
    for names, where in places(found):
        screen.say(Text.assemble((names, "bold cyan"), ": ", where))


def places(found: list[DatasetInfo]) -> list[tuple[str, str]]:
    """Where each one lies, or where it would come from; those from one place in one line."""
    groups: dict[str, list[str]] = {}
    for info in found:
        # <root>/<title>/raw: the root says enough
        where = info.source if info.path is None else f"In {info.path.parent.parent}"
        groups.setdefault(where, []).append(info.name)
    return [(", ".join(names), where) for where, names in groups.items()]


def as_dict(info: DatasetInfo) -> dict[str, Any]:
    return {**asdict(info), "path": None if info.path is None else str(info.path)}
