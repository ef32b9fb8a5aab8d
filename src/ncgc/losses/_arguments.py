"""Arguments of the losses, checked by the declarations of NCGC's hyper-parameters: one range and one message form each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ncgc.params.ncgc import DEFAULTS, NCGC_PARAMETERS
from ncgc.params.parameter import Parameter

__all__ = ["DEFAULTS", "check_argument", "check_count"]

_CLASSES = Parameter("num_classes", None, int, "number of classes", "Objective", low=1)


def check_argument(owner: str, name: str, value: Any, hyper_parameter: str | None = None) -> None:
    """Raise a ParameterError unless NCGC's hyper-parameter may take this value.

    Args:
        owner: function or class whose argument it is, for the message.
        name: the argument.
        value: what was passed.
        hyper_parameter: its name in NCGC, where that differs from ``name``.
    """
    declared = NCGC_PARAMETERS[hyper_parameter or name]
    replace(declared, name=name, words=()).check(value, owner)  # "auto" has become a number before it gets here


def check_count(owner: str, name: str, value: Any) -> None:
    """Check that a number of classes or clusters is an int of at least 1.

    Args:
        owner: function or class whose argument it is, for the message.
        name: the argument.
        value: what was passed.

    Raises:
        ParameterError: for any other value.
    """
    replace(_CLASSES, name=name).check(value, owner)
