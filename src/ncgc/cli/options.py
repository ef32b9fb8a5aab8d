"""Options of the command line, made from declared parameters; and their text turned into checked values.

An option that is named after one of NCGC's parameters serves every method that has a parameter of that name; all others
are given with --set.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from ncgc.errors import ParameterError
from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.params.parameter import Parameter
from ncgc.params.presets import other_defaults
from ncgc.runs.settings_file import from_word
from ncgc.runs.spec import owner_of, parameters_of, unknown_parameter

METAVARS = {int: "INT", float: "FLOAT", str: "WORD"}
METHOD = "Method"  # heading of the options that choose a method
# The seed of a run is that of its split too, so random_state is no option of its own.
HYPER_PARAMETERS = {name: row for name, row in NCGC_PARAMETERS.items() if name != "random_state"}


# ---------------------------------------------------------------- declaring


def option(parameter: Parameter) -> inspect.Parameter:
    """Make an option from a declared parameter.

    Args:
        parameter: the parameter, for its name, help, range and default.

    Returns:
        A keyword parameter of a command: None where the option is not given, else text for :func:`value_of`.
    """
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
    """A keyword parameter of a command.

    Args:
        name: of the parameter.
        annotation: its type with typer's option.
        default: its value where the option is not given.

    Returns:
        The parameter, for :func:`with_options`.
    """
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def text_option(name: str, help: str, panel: str, metavar: str = "NAME", kind: Any = str) -> inspect.Parameter:
    """An option that takes text or a path; None where it is not given.

    Args:
        name: of the parameter; the option is --name with dashes.
        help: its line in the help.
        panel: the heading it stands under.
        metavar: what the help shows for its value.
        kind: ``str`` or ``Path``.

    Returns:
        The parameter, for :func:`with_options`.
    """
    flag = f"--{name.replace('_', '-')}"
    about = typer.Option(flag, help=help, metavar=metavar, rich_help_panel=panel, show_default=False)
    return keyword(name, Annotated[kind | None, about], None)


def switch(name: str, help: str, panel: str, flag: str | None = None) -> inspect.Parameter:
    """An option that is on or off, and off where it is not given.

    Args:
        name: of the parameter.
        help: its line in the help.
        panel: the heading it stands under.
        flag: the option, where it is not --name with dashes.

    Returns:
        The parameter, for :func:`with_options`.
    """
    about = typer.Option(flag or f"--{name.replace('_', '-')}", help=help, rich_help_panel=panel)
    return keyword(name, Annotated[bool, about], False)


def method_option(help: str) -> inspect.Parameter:
    """The option --method.

    Args:
        help: its line in the help, with the methods that the command takes.

    Returns:
        The parameter, for :func:`with_options`.
    """
    return text_option("method", help, METHOD)


SET = keyword(
    "sets",
    Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Set a hyper-parameter of the method. Repeat for more.",
            rich_help_panel=METHOD,
            show_default=False,
        ),
    ],
    None,
)


def with_options(command: Callable[..., Any], options: Iterable[inspect.Parameter]) -> Callable[..., Any]:
    """Give a command these options as its signature, which typer reads.

    Args:
        command: a function of keyword arguments.
        options: its parameters, in the order of the help.

    Returns:
        The same function.
    """
    signature = inspect.Signature(list(options))
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return command


# ---------------------------------------------------------------- help


def describe(parameter: Parameter) -> str:
    """The help line of a parameter: what it does, its range, its default, and the backbones with another default.

    Args:
        parameter: the parameter.

    Returns:
        The line.

    >>> describe(NCGC_PARAMETERS["node_dropout"])
    'Dropout of all features of a node at once: from 0 to below 1. Default 0.0.'
    >>> describe(NCGC_PARAMETERS["backbone"])
    'Whose propagation the layers use: gcn, gat, sage, gcnii or appnp. Default gcn.'
    >>> describe(NCGC_PARAMETERS["num_layers"])
    'Number of layers: from 1. Default 2 (gcnii 8, appnp 1).'
    """
    first = parameter.help[0].upper() + parameter.help[1:]
    span = _span(parameter)
    others = other_defaults(parameter.name) if parameter.name in NCGC_PARAMETERS else {}
    beside = ", ".join(f"{backbone} {_word(value)}" for backbone, value in others.items())
    default = _word(parameter.default) + (f" ({beside})" if beside else "")
    return f"{first}{': ' + span if span else ''}. Default {default}."


def _span(parameter: Parameter) -> str:
    """The allowed values, as short as possible."""
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


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)


# ---------------------------------------------------------------- reading


def value_of(parameter: Parameter, text: str | bool) -> Any:
    """The value that an option's text stands for; text without a meaning is returned for the check to refuse.

    Args:
        parameter: the parameter, for its kind.
        text: as given on the command line; a truth value of a switch.

    Returns:
        The value, not checked.

    >>> value_of(NCGC_PARAMETERS["hidden"], "128"), value_of(NCGC_PARAMETERS["norm"], "none")
    (128, None)
    >>> value_of(NCGC_PARAMETERS["prior"], "1, 3"), value_of(NCGC_PARAMETERS["hidden"], "many")
    ((1.0, 3.0), 'many')
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


def given_parameters(texts: Mapping[str, Any], sets: Sequence[str] | None, method: str) -> dict[str, Any]:
    """The hyper-parameters in options and in --set, checked.

    Args:
        texts: text of options by the name of the parameter.
        sets: "NAME=VALUE" of each --set.
        method: whose hyper-parameters they are.

    Returns:
        Values by name.

    Raises:
        ParameterError: for a name that the method does not have, or a value out of range.

    >>> given_parameters({}, ["alpha=0.5", "iterations=10"], "label_spreading")
    {'alpha': 0.5, 'iterations': 10}
    """
    hyper = parameters_of(method)
    texts = dict(texts)
    for name in texts:
        if name not in hyper:
            raise ParameterError(
                f"{method} has no parameter {name!r}; it has {', '.join(hyper)}."
                if hyper
                else unknown_parameter(name, method)
            )
    for part in sets or ():
        name, equals, text = (word.strip() for word in part.partition("="))
        name = name.replace("-", "_")
        if not equals:
            raise ParameterError(f"--set takes NAME=VALUE. Got {part!r} instead.")
        if name not in hyper:
            raise ParameterError(unknown_parameter(name, method))
        texts[name] = text
    values = {name: value_of(hyper[name], text) for name, text in texts.items()}
    for name, value in values.items():
        hyper[name].check(value, owner_of(method))
    return values
