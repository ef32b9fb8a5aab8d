"""The commands put together, and everything that goes wrong turned into a sentence and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from ncgc import __version__
from ncgc.cli.commands import datasets, demo, fit, generate, label, methods, predict, train, tune
from ncgc.cli.help import Command, Group
from ncgc.cli.plugins import load_plugin, plugin_names
from ncgc.cli.screen import complain
from ncgc.errors import NCGCError, OutputError, PeerError
from ncgc.params.ncgc import NCGC_PARAMETERS

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # what printing to a file may meet
WELCOME = """Label the rest of a graph from a few labels.

Start with [bold cyan]ncgc demo[/]: one label per class on 1,797 handwritten digits, in half a minute, offline. Then
[bold cyan]ncgc train digits[/], and [bold cyan]ncgc datasets[/] for the other graphs."""


class Commands(Group):
    """Our commands and those of other packages, which are imported when they are needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands, in the order of the help.

        Args:
            ctx: click's context.

        Returns:
            Our commands, then those of other packages.
        """
        return [*super().list_commands(ctx), *plugin_names()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name.

        Args:
            ctx: click's context.
            cmd_name: the name.

        Returns:
            The command; None for an unknown name.
        """
        own = super().get_command(ctx, cmd_name)
        return load_plugin(cmd_name) if own is None and cmd_name in plugin_names() else own


app = typer.Typer(
    name="ncgc",
    cls=Commands,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo.demo,
    fit.fit_command(),
    label.label,
    predict.predict,
    train.train_command(),
    tune.tune,
    datasets.datasets,
    generate.generate_command(),
    methods.methods,
):
    app.command(cls=Command)(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ncgc {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, help=WELCOME)
def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(words: list[str]) -> int:
    """Run a command and turn every expected error into a sentence on stderr.

    Args:
        words: the words after ``ncgc``.

    Returns:
        The exit code.

    Raises:
        KeyboardInterrupt: for the caller to report.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ± is no reason to fail
    try:
        group = typer.main.get_command(app)
        # the words are kept for --distributed, which starts processes with the same ones
        with group.make_context("ncgc", list(words), obj=words) as context:
            code = group.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except PeerError as error:
        return complain(str(error), code=3)
    except NCGCError as error:
        # wrong input is wrong in every process of a distributed training; the first one reports it
        return complain(str(error)) if os.environ.get("RANK", "0") == "0" or isinstance(error, OutputError) else 2
    except BrokenPipeError:  # the reader, `head` say, has had enough
        _drop_stdout()
        return 1
    except OSError as error:
        if error.filename is not None:
            return complain(
                f"{error.filename} cannot be used ({error.strerror}); check its name and your rights to it."
            )
        if error.errno not in FULL:
            raise
        _drop_stdout()
        return complain(f"The output cannot be written ({error.strerror}); send it elsewhere.")
    except Exception as error:
        if _out_of_memory(error):
            return complain("There is not enough memory for this; try a smaller --hidden or --num-layers.")
        if hasattr(error, "format_message"):  # typer's usage errors have it, whoever's click is underneath
            return complain(_sentence(error))
        raise
    return code if isinstance(code, int) else 0


def _drop_stdout() -> None:
    """Discard what is still waiting to be printed, or Python would try once more at its end and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sentence(error: Any) -> str:
    """A usage error of typer as one sentence, with the nearest option for a mistyped one."""
    mistyped = getattr(error, "option_name", None)
    if mistyped is not None and hasattr(error, "possibilities"):
        renamed = {_option(row.former_name): _option(name) for name, row in NCGC_PARAMETERS.items() if row.former_name}
        if mistyped in renamed:
            return f"Unknown option {mistyped!r}; it is called {renamed[mistyped]!r} now."
        near = get_close_matches(mistyped, error.possibilities or (), n=1)
        path = error.ctx.command_path if error.ctx is not None else "ncgc"
        return f"Unknown option {mistyped!r}; " + (f"did you mean {near[0]!r}?" if near else f"see '{path} --help'.")
    text = " ".join(str(error.format_message()).split())
    return text if text.endswith((".", "?", "!", ")")) else text + "."


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or "can't allocate memory" in str(error)
