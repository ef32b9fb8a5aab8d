"""Hyper-parameters declared where they are used: one line a parameter in the body of a class, and its constructor follows."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from ncgc.errors import ParameterError
from ncgc.params.parameter import Parameter, unknown_name


def declared(default: Any, help: str, *, kind: type | None = None, **limits: Any) -> Any:
    """A hyper-parameter of the class it stands in: its default, one line of help, and the range it may take.

    Args:
        default: its value unless another is given; its type is the parameter's (``kind`` where it is None).
        limits: low, high, open_low, open_high, choices, optional or words of :class:`ncgc.params.parameter.Parameter`.
    """
    return Parameter("", default, type(default) if kind is None else kind, help, "", **limits)


class Declared(BaseEstimator):
    """An estimator whose parameters are declared in its body, those of its parents included.

    ``class Wide(Narrow, hidden=64)`` is Narrow with another default, ``class Bare(Narrow, without=("hidden",))`` has no use
    for that parameter.

    >>> class Narrow(Declared):
    ...     hidden: int = declared(16, "width", low=1)
    >>> class Wide(Narrow, hidden=64): ...
    >>> Wide().hidden, Wide(hidden=8).get_params(), Narrow()
    (64, {'hidden': 8}, Narrow())
    >>> class Bare(Narrow, without=("hidden",)): ...
    >>> Bare().get_params()
    {}
    """

    PARAMETERS: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls, without: tuple[str, ...] = (), **defaults: Any) -> None:
        super().__init_subclass__()
        table = {name: row for name, row in cls.PARAMETERS.items() if name not in without}  # the parent's, until here
        for name, value in list(vars(cls).items()):
            if isinstance(value, Parameter):
                table[name] = replace(value, name=name, group=cls.__name__)
        for name, default in defaults.items():
            if name not in table:
                raise TypeError(f"{cls.__name__} has no parameter {name!r} to give a default")
            table[name] = replace(table[name], default=default)
        if "random_state" in table:
            table["random_state"] = table.pop("random_state")  # last, as everywhere
        cls.PARAMETERS = table
        cls.__init__ = _constructor(table)  # type: ignore[method-assign]

    def check(self) -> None:
        """Raise a ParameterError for a value outside its range."""
        for name, parameter in self.PARAMETERS.items():
            parameter.check(getattr(self, name), type(self).__name__)


def _constructor(table: dict[str, Parameter]) -> Any:
    def __init__(self: Declared, **given: Any) -> None:
        for name in given:
            if name not in table:
                raise ParameterError(unknown_name(name, table, f"parameter of {type(self).__name__}"))
        for name, parameter in table.items():
            setattr(self, name, given.get(name, parameter.default))

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    words = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=row.default) for name, row in table.items()
    ]
    __init__.__signature__ = inspect.Signature([own, *words])  # type: ignore[attr-defined]
    return __init__
