"""`ncgc datasets`: the data sets that have a name, and whether they are on this machine."""

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
        Path | None, typer.Option("--data", metavar="DIR", help="Look for data sets in this folder first.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")] = False,
) -> None:
    """List the data sets with their sizes and where each one is or would come from."""
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
    """Group the data sets by where they are, or where they would come from.

    Args:
        found: the data sets.

    Returns:
        (names with commas, place) of each group.
    """
    groups: dict[str, list[str]] = {}
    for info in found:
        # of <root>/<title>/raw, the root is enough
        where = info.source if info.path is None else f"In {info.path.parent.parent}"
        groups.setdefault(where, []).append(info.name)
    return [(", ".join(names), where) for where, names in groups.items()]


def as_dict(info: DatasetInfo) -> dict[str, Any]:
    """What is known about a data set, in JSON's types.

    Args:
        info: the data set.

    Returns:
        Its fields by name.
    """
    return {**asdict(info), "path": None if info.path is None else str(info.path)}
