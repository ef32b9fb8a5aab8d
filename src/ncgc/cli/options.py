"""From a declared parameter to a command-line option, and from its text back to a checked value."""

from __future__ import annotations

import inspect
import math
from typing import Annotated, Any

import typer

from ncgc.params.parameter import PARAMETERS, Parameter
from ncgc.params.presets import other_defaults
from ncgc.runs.config import from_word

METAVARS = {int: "INT", float: "FLOAT", str: "WORD"}


def option(parameter: Parameter) -> inspect.Parameter:
    """An option for a declared parameter, None when it is not given; text is read by :func:`value_of`."""
    dashed = parameter.name.replace("_", "-")
    names = f"--{dashed}/--no-{dashed}" if parameter.kind is bool else f"--{dashed}"
    about = typer.Option(
        names,
        help=describe(parameter),
        metavar=None if parameter.kind is bool else METAVARS[parameter.kind],
        rich_help_panel=parameter.group,
        show_default=False,
    )
    kind: Any = bool if parameter.kind is bool else str
    return keyword(parameter.name, Annotated[kind | None, about], None)


def keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def describe(parameter: Parameter) -> str:
    """The help line: what it does, what it may be, its default, and for which backbones that is another.

    >>> from ncgc.params.parameter import PARAMETERS
    >>> describe(PARAMETERS["node_dropout"])
    'Dropout of all features of a node at once: from 0 to below 1. Default 0.0.'
    >>> describe(PARAMETERS["backbone"])
    'Whose propagation the layers use: gcn, gat, sage, gcnii or appnp. Default gcn.'
    >>> describe(PARAMETERS["num_layers"])
    'Number of layers: from 1. Default 2 (gcnii 8, appnp 1).'
    """
    first = parameter.help[0].upper() + parameter.help[1:]
    span = _span(parameter)
    others = ", ".join(f"{backbone} {_word(value)}" for backbone, value in _others(parameter).items())
    beside = f" ({others})" if others else ""
    return f"{first}{': ' + span if span else ''}. Default {_word(parameter.default)}{beside}."


def value_of(parameter: Parameter, text: str | bool) -> Any:
    """The value that an option's text stands for; text that stands for none is left for the check to refuse.

    >>> from ncgc.params.parameter import PARAMETERS
    >>> value_of(PARAMETERS["hidden"], "128"), value_of(PARAMETERS["norm"], "none"), value_of(PARAMETERS["prior"], "1, 3")
    (128, None, (1.0, 3.0))
    >>> value_of(PARAMETERS["hidden"], "many")
    'many'
    """
    if isinstance(text, bool):
        return text
    word = text.strip()
    try:
        if parameter.array and "," in word:
            return tuple(float(part) for part in word.split(","))
        if parameter.kind in (int, float):
            return parameter.kind(word)
    except ValueError:
        pass
    return from_word(parameter, word)


def _span(parameter: Parameter) -> str:
    """What it may be, as short as it can be said."""
    if parameter.kind is bool:
        return ""
    if parameter.choices:
        words = [*parameter.choices]
        words += ["numbers with commas"] if parameter.array else []
    else:
        low = ("above " if parameter.open_low else "from ") + f"{parameter.low:.10g}"
        high = (" to below " if parameter.open_high else " to ") + f"{parameter.high:.10g}"
        words = [low + (high if math.isfinite(parameter.high) else ""), *parameter.words]
    words += ["none"] if parameter.optional else []
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _others(parameter: Parameter) -> dict[str, Any]:
    return other_defaults(parameter.name) if parameter.name in PARAMETERS else {}


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)
