"""`ncgc bench speed`: an epoch of ours beside the same model on stock PyTorch Geometric layers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ncgc.datasets.catalogue import find_info


def speed(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATASET", help="Data sets. Default the seven.", show_default=False),
    ] = None,
    backbone: Annotated[
        str, typer.Option("--backbone", metavar="WORD", help="gcn or gat, at the paper's settings. Default gcn.")
    ] = "gcn",
    heads: Annotated[int, typer.Option("--heads", metavar="INT", help="Attention heads of GAT. Default 1.")] = 1,
    rounds: Annotated[int, typer.Option("--rounds", metavar="INT", help="Turns of each way. Default 7.")] = 7,
    memory: Annotated[
        bool, typer.Option("--memory", help="Peak memory too, and what keeping freed memory gains.")
    ] = False,
    methods: Annotated[
        bool, typer.Option("--methods", help="An epoch of every other method beside its form on stock layers instead.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a data set, the means last.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="A folder to look for data sets in first.")
    ] = None,
    show: Annotated[Path | None, typer.Option("--show", metavar="FILE", help="The table of an earlier --json.")] = None,
) -> int:
    """Time a whole training epoch beside the same model on stock PyTorch Geometric layers."""
    names = [find_info(name).name for name in datasets or ()]
    from ncgc_bench.plans import DATASETS
    from ncgc_bench.speed.command import compare, compare_methods
    from ncgc_bench.speed.epochs import Options
    from ncgc_bench.speed.tables import as_table, read_rows

    if show is not None:
        typer.echo(as_table(read_rows(show)))
        return 0
    options = Options(backbone, heads, rounds, memory, None if data is None else str(data))
    (compare_methods if methods else compare)(names or DATASETS, options, as_json)
    return 0
