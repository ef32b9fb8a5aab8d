"""Hyper-parameters, each declared once, in the body of the class that uses it: default, range and one line of help.

Constructor, command line, TOML files and help are all made from these declarations.
"""

from __future__ import annotations

import difflib
import inspect
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from ncgc.errors import ParameterError

_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Parameter:
    """One hyper-parameter: its type, the range it may take, and what it does.

    Attributes:
        name: its name in Python, in TOML and, with dashes, on the command line.
        default: its value unless another is given.
        kind: float, int, bool or str.
        help: one line, without a full stop.
        group: the heading it stands under in the help.
        low, high: the range of a number.
        open_low, open_high: whether the ends are left out of the range.
        choices: the words it may be, of a parameter of kind str.
        optional: whether None is allowed ("none" in TOML and on the command line).
        also: what else Python takes, in words, such as "a function".
        array: whether an array of class shares is allowed (on the command line: numbers with commas).
        words: what a number may be instead, such as "auto".
        past_default: what was done before this parameter existed, where that is not its default.
        former_name: its name in older model files, configurations and stored runs. Run keys hash the former name,
            so that a rename changes no key.
    """

    name: str
    default: Any
    kind: type
    help: str
    group: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    choices: tuple[str, ...] = ()
    optional: bool = False
    also: str = ""
    array: bool = False
    words: tuple[str, ...] = ()
    past_default: Any = ...
    former_name: str = ""

    @property
    def before(self) -> Any:
        """The value of a result that was made before this parameter existed."""
        return self.default if self.past_default is ... else self.past_default

    @property
    def expected(self) -> str:
        """The allowed values in words, for messages and help."""
        if self.kind is bool:
            text = "true or false"
        elif self.choices:
            text = "one of " + ", ".join(repr(choice) for choice in self.choices)
        else:
            low, high = "[("[self.open_low], ")]"[not self.open_high and math.isfinite(self.high)]
            span = f"{low}{_number(self.low, self.kind)}, {_number(self.high, self.kind)}{high}"
            text = f"{'an int' if self.kind is int else 'a float'} in the range {span}"
        for word in self.words:
            text += f" or {word!r}"
        if self.also:
            text += f" or {self.also}"
        return text + (" or none" if self.optional else "")

    def check(self, value: Any, owner: str = "NCGC") -> None:
        """Raise a ParameterError unless the value is allowed.

        Args:
            value: what was given.
            owner: whose parameter it is, for the message.

        Raises:
            ParameterError: in scikit-learn's form: what must be, and what was found.
        """
        if not self.allows(value):
            near = difflib.get_close_matches(value, self.choices, n=1) if isinstance(value, str) else []
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise ParameterError(
                f"The '{self.name}' parameter of {owner} must be {self.expected}. Got {value!r} instead{hint}"
            )

    def allows(self, value: Any) -> bool:
        """Whether a value is of the right kind and in range.

        Args:
            value: what a user passed.

        Returns:
            True for a value that :meth:`check` accepts.
        """
        if value is None:
            return self.optional
        if self.kind is bool:
            return isinstance(value, bool | np.bool_)
        if self.choices:
            if isinstance(value, str):
                return value in self.choices
            return _are_shares(value) if self.array else bool(self.also) and callable(value)
        if isinstance(value, str):
            return value in self.words
        if isinstance(value, bool) or not isinstance(value, Integral if self.kind is int else Real):
            return False
        # as Python's own float, or comparing a float32 with the largest float64 overflows
        number: Any = value if isinstance(value, Integral) else float(value)
        if not -_LARGEST <= number <= _LARGEST:  # NaN neither
            return False
        above = number > self.low if self.open_low else number >= self.low
        below = number < self.high if self.open_high else number <= self.high
        return bool(above and below)


def _are_shares(value: Any) -> bool:
    """Whether these are finite numbers, none below 0, that do not sum to 0; how many, the classes decide."""
    try:
        shares = np.asarray(value, dtype=np.float64) if isinstance(value, Sequence | np.ndarray) else np.zeros(0)
    except (TypeError, ValueError):
        return False
    return shares.ndim == 1 and bool(np.isfinite(shares).all() and (shares >= 0).all() and shares.sum() > 0)


def _number(value: float, kind: type) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(int(value)) if kind is int else str(float(value))


def declared(default: Any, help: str, *, kind: type | None = None, group: str = "", **limits: Any) -> Any:
    """Declare a hyper-parameter of the class in whose body this stands.

    Args:
        default: its value unless another is given.
        help: what it does, in one line.
        kind: float, int, bool or str; default: the type of ``default``.
        group: the heading in the help; default: the name of the class.
        limits: any other attribute of :class:`Parameter`.

    Returns:
        A :class:`Parameter`, which :class:`Declared` turns into an attribute of every instance.
    """
    return Parameter("", default, type(default) if kind is None else kind, help, group, **limits)


class Declared:
    """A class whose constructor is made, as scikit-learn needs it, from the parameters declared in it and its bases.

    ``class Wide(Narrow, hidden=64)`` is Narrow with another default; ``class Bare(Narrow, without=("hidden",))`` does
    not have that parameter.

    Attributes:
        PARAMETERS: every parameter by name, ``random_state`` last.
        POSITIONAL: the parameters that may be given by position.

    >>> class Narrow(Declared):
    ...     hidden: int = declared(16, "width", low=1)
    >>> class Wide(Narrow, hidden=64): ...
    >>> Wide().hidden, Wide(hidden=8).hidden, Narrow().hidden
    (64, 8, 16)
    >>> class Bare(Narrow, without=("hidden",)): ...
    >>> Bare.PARAMETERS
    {}
    """

    PARAMETERS: ClassVar[dict[str, Parameter]] = {}
    POSITIONAL: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, without: tuple[str, ...] = (), **defaults: Any) -> None:
        super().__init_subclass__()
        table: dict[str, Parameter] = {}
        for base in reversed(cls.__bases__):
            table |= getattr(base, "PARAMETERS", {})
        table = {name: row for name, row in table.items() if name not in without}
        for name, value in list(vars(cls).items()):
            if isinstance(value, Parameter):
                table[name] = replace(value, name=name, group=value.group or cls.__name__)
        for name, default in defaults.items():
            if name not in table:
                raise TypeError(f"{cls.__name__} has no parameter {name!r} to give a default")
            table[name] = replace(table[name], default=default)
        if "random_state" in table:
            table["random_state"] = table.pop("random_state")
        cls.PARAMETERS = table
        if "__init__" not in vars(cls):
            cls.__init__ = _constructor(table, cls.POSITIONAL)  # type: ignore[method-assign]

    @classmethod
    def recipe(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Defaults that depend on what was given: values for parameters that ``given`` does not name.

        Args:
            given: the parameters that were passed to the constructor.

        Returns:
            Values that replace the declared defaults; none unless a class overrides this.
        """
        return {}

    @classmethod
    def renamed(cls, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Stored parameters under their present names.

        Args:
            stored: parameters by name, some perhaps by the name they had when they were stored.

        Returns:
            The same values; names that no parameter ever had are left as they are.
        """
        present = {row.former_name: name for name, row in cls.PARAMETERS.items() if row.former_name}
        return {present.get(name, name): value for name, value in stored.items()}

    def check(self) -> None:
        """Raise a ParameterError for the first parameter whose value is not allowed."""
        for name, parameter in self.PARAMETERS.items():
            parameter.check(getattr(self, name), type(self).__name__)


def _constructor(table: dict[str, Parameter], positional: tuple[str, ...]) -> Any:
    """An ``__init__`` for these parameters, with the signature that scikit-learn and help() read."""

    def __init__(self: Declared, *values: Any, **given: Any) -> None:
        if len(values) > len(positional):
            raise TypeError(f"{type(self).__name__} takes {len(positional)} positional arguments; name the others")
        for name, value in zip(positional, values, strict=False):
            if name in given:
                raise TypeError(f"{type(self).__name__} got {name!r} twice")
            given[name] = value
        for name in given:
            if name not in table:
                raise ParameterError(unknown_name(name, table, f"parameter of {type(self).__name__}"))
        fallback = {name: row.default for name, row in table.items()} | self.recipe(given)
        for name in table:
            setattr(self, name, given.get(name, fallback[name]))

    kinds = {True: inspect.Parameter.POSITIONAL_OR_KEYWORD, False: inspect.Parameter.KEYWORD_ONLY}
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    order = [*positional, *(name for name in table if name not in positional)]
    words = [inspect.Parameter(name, kinds[name in positional], default=table[name].default) for name in order]
    __init__.__signature__ = inspect.Signature([own, *words])  # type: ignore[attr-defined]
    return __init__


def check_parameters(values: Mapping[str, Any], owner: str, known: Mapping[str, Parameter]) -> None:
    """Check values against their declarations; an unknown name gets the nearest known one as a suggestion.

    Args:
        values: parameters by name.
        owner: whose parameters they are, for the message.
        known: the declarations by name.

    Raises:
        ParameterError: for the first name that is unknown or value that is not allowed.

    >>> beta = Parameter("beta", 0.003, float, "strength of the constraint", "Network", low=0)
    >>> check_parameters({"beta": -1}, "NCGC", {"beta": beta})
    Traceback (most recent call last):
    ...
    ncgc.errors.ParameterError: The 'beta' parameter of NCGC must be a float in the range [0.0, inf). Got -1 instead.
    """
    for name, value in values.items():
        if name not in known:
            raise ParameterError(unknown_name(name, known, f"parameter of {owner}"))
        known[name].check(value, owner)


def unknown_name(name: str, known: Mapping[str, Any] | Sequence[str], what: str) -> str:
    """One sentence on an unknown name, with its present name if it is a former one, or the nearest known one.

    Args:
        name: what was given.
        known: what there is; parameters by name, or any names.
        what: what kind of name it is, such as "parameter".

    Returns:
        A sentence for an error message.

    >>> unknown_name("droput", ["dropout", "hidden"], "parameter")
    "Unknown parameter 'droput'; did you mean 'dropout'?"
    """
    rows = known.values() if isinstance(known, Mapping) else ()
    renamed = [row.name for row in rows if isinstance(row, Parameter) and row.former_name == name]
    if renamed:
        return f"Unknown {what} {name!r}; it is called {renamed[0]!r} now."
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}?" if near else "known are " + ", ".join(known) + "."
    return f"Unknown {what} {name!r}; {hint}"
