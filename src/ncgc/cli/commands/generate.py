"""`ncgc generate`: a synthetic graph of any size, written to a folder that `ncgc fit` reads.

The options are made from `ncgc.datasets.synthetic.model.PARAMETERS`. Three have a shorter name here, and the number of
edges may be given instead of a mean degree.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncgc.cli.commands.fit import split_line
from ncgc.cli.options import option, switch, value_of, with_options
from ncgc.cli.screen import Screen, count, percent, seconds
from ncgc.datasets.synthetic.model import OWNER, PARAMETERS, BlockModel
from ncgc.errors import ParameterError
from ncgc.params.parameter import Parameter
from ncgc.runs.result import json_line

if TYPE_CHECKING:
    from ncgc.datasets.synthetic.nodes import Nodes

RESULT = "Result"
SHORT = {"num_nodes": "nodes", "num_classes": "classes", "num_features": "features"}
OPTIONS = {name: replace(row, name=SHORT.get(name, name)) for name, row in PARAMETERS.items()}
EDGES = Parameter("edges", None, int, "number of edges, instead of a mean degree", "Edges", low=1, optional=True)


FIXED = (
    inspect.Parameter(
        "out",
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        annotation=Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write.", show_default=False)],
    ),
    switch("overwrite", "Replace an earlier graph in OUT.", RESULT),
    switch("as_json", "Print one JSON object to stdout, all else to stderr.", RESULT, "--json"),
    switch("quiet", "Show only the command that comes next.", RESULT),
)


def generate_command() -> Callable[..., int]:
    """Make the command, with an option for every declared parameter.

    Returns:
        A function for typer; its docstring is the help.
    """

    def generate(**given: Any) -> int:
        """Generate a graph to try things on: classes, edges, features and a few labels, as large as the disk allows."""
        fixed = {parameter.name: given.pop(parameter.name) for parameter in FIXED}
        return _generate(model_of({name: text for name, text in given.items() if text is not None}), **fixed)

    rows = [option(row) for row in (*OPTIONS.values(), EDGES)]
    return with_options(generate, [FIXED[0], *rows, *FIXED[1:]])


def model_of(texts: dict[str, str]) -> BlockModel:
    """The block model that the options describe.

    Args:
        texts: text of each option that was given, by its name on the command line.

    Returns:
        The model.

    Raises:
        ParameterError: for a value out of range, or edges given twice.

    >>> model = model_of({"nodes": "1e4", "edges": "30000", "homophily": "0.8"})
    >>> model.num_nodes, model.num_edges, model.homophily
    (10000, 30000, 0.8)
    """
    edges = _checked(EDGES, texts["edges"]) if "edges" in texts else None
    values = {name: _checked(row, texts[row.name]) for name, row in OPTIONS.items() if row.name in texts}
    if edges is not None:
        if "mean_degree" in values:
            raise ParameterError("The edges are given twice; give --edges or --mean-degree.")
        values["mean_degree"] = 2 * edges / values.get("num_nodes", OPTIONS["num_nodes"].default)
        OPTIONS["mean_degree"].check(values["mean_degree"], OWNER)
    return BlockModel(**values)


def _checked(parameter: Parameter, text: str) -> Any:
    value = value_of(parameter, text)
    if parameter.kind is int and isinstance(value, str):
        value = _whole(value)
    parameter.check(value, OWNER)
    return value


def _whole(text: str) -> Any:
    """1e6 as a whole number; anything else as it is."""
    try:
        number = float(text)
        return int(number) if number == int(number) else text
    except (ValueError, OverflowError):
        return text


def _generate(model: BlockModel, out: Path, overwrite: bool, as_json: bool, quiet: bool) -> int:
    from ncgc.datasets.synthetic.folder import check_place, expected_bytes, fit_command, num_steps, write_graph

    check_place(out, model, overwrite)
    started = time.perf_counter()
    screen = Screen(to_stderr=as_json, quiet=quiet)
    screen.rows([("graph", _graph_line(model)), ("size", f"about {_size(expected_bytes(model))}")])
    with screen.progress("generating", num_steps(model), unit="block") as show:
        done = 0

        def step() -> None:
            nonlocal done
            done += 1
            show(done, {})

        nodes, split = write_graph(out, model, overwrite, step)
    took, command = time.perf_counter() - started, fit_command(out, model)
    written = sum(file.stat().st_size for file in out.iterdir())
    screen.rows(
        [
            ("classes", _sizes_line(nodes)),
            ("labels", split_line(split)),
            ("written", f"{out}, {_size(written)} in {seconds(took)}"),
            ("next", command),
        ]
    )
    if quiet:
        screen.say(command, result=True)
    if as_json:
        about = {"folder": str(out), "edges": model.num_edges, "bytes": written, "seconds": took, "command": command}
        typer.echo(json_line({**model.to_dict(), "class_sizes": nodes.sizes.tolist(), **about}))
    return 0


def _graph_line(model: BlockModel) -> str:
    counts = ((model.num_nodes, "node"), (model.num_edges, "edge"), (model.num_features, "feature"))
    sizes = ", ".join(count(*pair) for pair in (*counts, (model.num_classes, "class")))
    return f"{sizes}; {percent(model.homophily)} of edges inside a class"


def _sizes_line(nodes: Nodes) -> str:
    return f"of {nodes.sizes.min():,} to {nodes.sizes.max():,} nodes"


def _size(number: int) -> str:
    """
    >>> _size(81_000_000), _size(2_300_000_000), _size(40)
    ('81.0 MB', '2.3 GB', '0.1 MB')
    """
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{max(number / 1e6, 0.1):.1f} MB"
