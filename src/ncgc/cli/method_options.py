"""Which method, and its hyper-parameters: options that `ncgc train` and `ncgc fit` share.

Every option of NCGC's is there for another method too where it has a parameter of that name; all others go by --set.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from ncgc.cli.options import keyword, value_of
from ncgc.errors import ParameterError
from ncgc.params.parameter import unknown_name
from ncgc.runs.config import OURS, hyper_of

_PANEL = "Method"


def method_option(about: str) -> inspect.Parameter:
    """--method, with what it may be in the verb at hand."""
    option = typer.Option("--method", metavar="NAME", help=about, rich_help_panel=_PANEL, show_default=False)
    return keyword("method", Annotated[str | None, option], None)


SET = keyword(
    "sets",
    Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A hyper-parameter of the method; may be given again.",
            rich_help_panel=_PANEL,
            show_default=False,
        ),
    ],
    None,
)


def given_parameters(texts: Mapping[str, Any], sets: Sequence[str] | None, method: str) -> dict[str, Any]:
    """The hyper-parameters in options and in --set, as values of the method's own kinds.

    >>> given_parameters({}, ["alpha=0.5", "iterations=10"], "label_spreading")
    {'alpha': 0.5, 'iterations': 10}
    """
    hyper = hyper_of(method)
    texts = dict(texts)
    for part in sets or ():
        name, equals, text = part.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise ParameterError(f"--set takes NAME=VALUE. Got {part!r} instead.")
        if name not in hyper:
            raise ParameterError(unknown_name(name, hyper, f"parameter of {method}"))
        texts[name] = text.strip()
    for name in texts:
        if name not in hyper:
            raise ParameterError(f"{method} has no parameter {name!r}; it has {', '.join(hyper)}.")
    values = {name: value_of(hyper[name], text) for name, text in texts.items()}
    for name, value in values.items():
        hyper[name].check(value, "NCGC" if method == OURS else method)
    return values


def method_settings(method: str, dataset: str | None = None, settings: str | None = None) -> dict[str, Any]:
    """What a method's authors recommend, for a data set they used or for any; named settings are NCGC's own."""
    from ncgc.models.registry import find_method
    from ncgc.params.presets import method_preset

    if settings not in (None, "default"):
        raise ParameterError(f"The settings {settings!r} are NCGC's; {method} has its own, which --set changes.")
    return method_preset(method, dataset, find_method(method).PARAMETERS)
