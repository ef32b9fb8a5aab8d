"""Help that fits a narrow terminal: no name is cut, and the text of an option stands beside or beneath it."""

from __future__ import annotations

import io
import shutil
import sys
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

INDENT, BESIDE, WIDEST = 2, 24, 100


class Command(TyperCommand):
    """A command with our help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help.

        Args:
            ctx: click's context.
            formatter: click's formatter, which is written to.
        """
        formatter.write(help_text(self, ctx))


class Group(TyperGroup):
    """A group of commands with our help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help.

        Args:
            ctx: click's context.
            formatter: click's formatter, which is written to.
        """
        formatter.write(help_text(self, ctx))


def help_text(command: Any, ctx: Any) -> str:
    """The whole help: usage, description, commands, and options under the headings they were declared with.

    Args:
        command: a click command or group.
        ctx: its click context.

    Returns:
        The text, no wider than the terminal.
    """
    width = min(shutil.get_terminal_size().columns, WIDEST)
    text = io.StringIO()
    # echo takes the colours out again where stdout is not a terminal
    console = Console(file=text, width=width, force_terminal=sys.stdout.isatty(), highlight=False, emoji=False)
    pieces = command.collect_usage_pieces(ctx)
    console.print(f"[bold]Usage:[/bold] {ctx.command_path} " + " ".join(pieces).replace("[", r"\["))
    for paragraph in (command.help or "").split("\n\n"):
        console.print()
        console.print(" ".join(paragraph.split()))
    for title, rows in _sections(command, ctx).items():
        console.print(f"\n[bold]{title}[/bold]")
        beside = min(BESIDE, max((len(name) for name, _ in rows), default=0))
        for name, about in rows:
            _row(console, name, about, beside)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def first_paragraph(text: str | None) -> str:
    """The first paragraph of a help text: all that a list of commands has room for.

    Args:
        text: the help, None for none.

    Returns:
        The paragraph.
    """
    return (text or "").split("\n\n")[0]


def _sections(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    sections: dict[str, list[tuple[str, str]]] = {}
    for name in command.list_commands(ctx) if hasattr(command, "list_commands") else ():
        sections.setdefault("Commands", []).append((name, first_paragraph(command.get_command(ctx, name).help)))
    for parameter in command.get_params(ctx):
        if parameter.param_type_name == "argument":
            sections.setdefault("Arguments", []).append((parameter.metavar, parameter.help or ""))
            continue
        names = ", ".join(sorted(parameter.opts, key=len))
        if parameter.secondary_opts:
            names += " / " + ", ".join(parameter.secondary_opts)
        elif parameter.metavar:
            names += f" {parameter.metavar}"
        title = getattr(parameter, "rich_help_panel", None) or "Options"
        sections.setdefault(title, []).append((names, parameter.help or ""))
    # the few that every command has come last
    sections["Options"] = sections.pop("Options", [])
    return sections


def _row(console: Console, name: str, about: str, beside: int) -> None:
    about = " ".join(about.split())
    if len(name) > beside:
        console.print(Padding(Text(name, style="cyan"), (0, 0, 0, INDENT)))
        console.print(Padding(Text(about), (0, 0, 0, INDENT + beside + 2)))
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=beside, style="cyan", no_wrap=True)
    grid.add_column()
    grid.add_row(Text(name), Text(about))
    console.print(Padding(grid, (0, 0, 0, INDENT)))
