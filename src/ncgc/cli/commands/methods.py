"""`ncgc methods`: every method in a list, and a page on each."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from ncgc.cli.screen import Screen
from ncgc.runs.spec import find_classifier


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show one method: its formula, parameters and settings.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")] = False,
) -> None:
    """List the methods with their papers, families and cost, or show one in detail."""
    from ncgc.runs.result import json_line

    found = _all() if name is None else _one(name)
    if as_json:
        typer.echo(json_line(found))
    elif isinstance(found, list):
        _show_list(found, Screen())
    else:
        _show_page(found, Screen())


def _all() -> list[dict[str, Any]]:
    from ncgc.models.registry import CLASSIFIERS

    return [_row(name, kind) for name, kind in CLASSIFIERS.items()]


def _row(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "title": kind.title, "paper": kind.paper, "family": kind.family, "cost": kind.cost}


def _one(name: str) -> dict[str, Any]:
    """All about one method: its row of the list, its formula, its parameters, and what its settings change."""
    from ncgc.params.presets import method_tables

    kind = find_classifier(name)
    return {
        **_row(name, kind),
        "about": about(kind),
        "new_nodes": kind.inductive,
        "parameters": [
            {"name": p.name, "default": p.default, "range": p.expected, "help": p.help}
            for p in kind.PARAMETERS.values()
            if p.name != "random_state"  # --seed
        ],
        "settings": method_tables(name),
    }


def about(kind: type) -> str:
    """The docstring of a class up to its example or its list of attributes, lines joined to paragraphs.

    Args:
        kind: the class.

    Returns:
        Paragraphs with an empty line between.

    >>> class Averages:
    ...     '''Z = ÂX.
    ...
    ...     A paper, and what
    ...     it says.
    ...
    ...     >>> 1 + 1
    ...     2
    ...     '''
    >>> about(Averages)
    'Z = ÂX.\\n\\nA paper, and what it says.'
    """
    kept = []
    for paragraph in (inspect.getdoc(kind) or "").split("\n\n"):
        if paragraph.startswith((">>>", "Args:", "Attributes:", "Fitted attributes")):
            break
        plain = re.sub(r":\w+:`~?([^`]+)`", r"\1", paragraph).replace("``", "")
        kept.append(" ".join(plain.split()))
    return "\n\n".join(kept)


def _show_list(rows: list[dict[str, Any]], screen: Screen) -> None:
    table = _table("name", "family", "paper", "cost")
    for row in rows:
        table.add_row(row["name"], row["family"], row["paper"], row["cost"])
    screen.say(table)
    screen.say()
    screen.say("More about one: ncgc methods NAME. Use it: ncgc train cora --method NAME, ncgc fit … --method NAME.")


def _show_page(page: dict[str, Any], screen: Screen) -> None:
    screen.rows(
        [
            ("method", f"{page['title']} ({page['paper']})"),
            ("family", page["family"]),
            ("cost", page["cost"]),
            ("new nodes", "labels them too (ncgc predict)" if page["new_nodes"] else "no: labels only its own graph"),
        ]
    )
    for paragraph in page["about"].split("\n\n"):
        screen.say()
        screen.say(paragraph)
    screen.say()
    table = _table("parameter", "default", "range", "what it does")
    for row in page["parameters"]:
        span = row["range"].replace("an int in the range", "int").replace("a float in the range", "float")
        table.add_row(row["name"], _word(row["default"]), span, row["help"])
    screen.say(table)
    screen.say()
    if page["settings"]:
        screen.say("Recommended settings, which ncgc train and ncgc bench use for parameters that are not given:")
        screen.rows(
            (name, ", ".join(f"{key} {_word(value)}" for key, value in values.items()))
            for name, values in page["settings"].items()
        )
        screen.say()
    screen.say(f"Use it: {_command(page)}")


def _command(page: dict[str, Any]) -> str:
    first = page["parameters"][0]
    name, value = first["name"], _word(first["default"])
    return f"ncgc train cora --method {page['name']} --set {name}={value}"


def _table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(titles[0], style="bold cyan", no_wrap=True)
    for title in titles[1:]:
        table.add_column(title)
    return table


def _word(value: Any) -> str:
    """A value as --set and TOML take it."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
