"""`ncgc bench show scale`: what benchmarks/scale.py measured, as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncgc.errors import ParameterError

FORMATS = ("text", "markdown")
STORE = "scale.jsonl"


def scale(
    form: Annotated[
        str, typer.Option("--format", metavar="WORD", help=f"Of {', '.join(FORMATS)}. Default text.")
    ] = "text",
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="DIR", help=f"The folder that {STORE} is in.", show_default=False),
    ] = None,
) -> int:
    """How reading, training by parts and memory grow with the number of nodes, as measured."""
    if form not in FORMATS:
        raise ParameterError(f"--format must be one of {', '.join(FORMATS)}. Got {form!r} instead.")
    from ncgc_bench.render import as_markdown, as_text
    from ncgc_bench.scaling.tables import read_rows, tables
    from ncgc_bench.store import FOLDER

    for table in tables(read_rows((FOLDER if results is None else results) / STORE)):
        typer.echo()
        typer.echo(as_text(table) if form == "text" else as_markdown(table))
    typer.echo()
    return 0
