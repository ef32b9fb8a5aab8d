"""One message form for every parameter out of range, scikit-learn's."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from ncgc.errors import ParameterError


def check_real(name: str, owner: str, value: Any, low: float, high: float, closed: str = "both") -> None:
    """Raise unless ``value`` is a number from ``low`` to ``high``; ``closed``: both, left, right or neither end belongs."""
    good = isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)
    if good:
        above = value >= low if closed in ("both", "left") else value > low
        below = value <= high if closed in ("both", "right") else value < high
        good = above and below
    if not good:
        left = "[" if closed in ("both", "left") else "("
        right = "]" if closed in ("both", "right") else ")"
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be a float in the range {left}{float(low)}, {float(high)}{right}. "
            f"Got {value!r} instead."
        )


def check_whole(name: str, owner: str, value: Any, low: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be an int in the range [{low}, inf). Got {value!r} instead."
        )


def check_choice(name: str, owner: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be a str among {{{listed}}}. Got {value!r} instead."
        )
