"""Other people's words on a page: numbers as people write them, and data that cannot become markup."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
from markupsafe import Markup

LONGEST = 200  # characters of a node's id that a page keeps: enough to know it by
_RISKY = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def embedded_json(value: Any) -> Markup:
    """JSON to stand inside a <script>: no character that could end the element, and none that UTF-8 cannot hold.

    >>> print(embedded_json("</script>"))
    "\\u003c/script\\u003e"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(_RISKY.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def printable(value: Any) -> str:
    """A value as text that HTML can hold: what it cannot (NUL, half a surrogate pair) shows as a replacement character.

    >>> printable("a\\x00b")
    'a\ufffdb'
    """
    return _UNPRINTABLE.sub("\ufffd", str(value))


def shortened(value: Any, longest: int = LONGEST) -> str:
    """
    >>> shortened("abcdef", 4)
    'abc…'
    """
    text = str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number(value: Any) -> str:
    """A value as people write it: thousands in groups, three significant figures, yes and no.

    >>> number(1234567), number(3.14159), number(True), number("cora"), number(0.00012), number(12345.6)
    ('1,234,567', '3.14', 'yes', 'cora', '0.00012', '12,346')
    """
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            return str(value)
        size = float(value)
        return f"{size:,.0f}" if abs(size) >= 999.5 else f"{size:.3g}"
    return "none" if value is None else str(value)


def share(value: float) -> str:
    """A share between 0 and 1 with one decimal of a per cent.

    >>> share(0.8312)
    '83.1 %'
    """
    return f"{100 * value:.1f} %"


def duration(seconds: float) -> str:
    """
    >>> duration(4.02), duration(75), duration(7300)
    ('4.0 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def plural(count: int, word: str) -> str:
    """
    >>> plural(1, "node"), plural(2708, "node")
    ('1 node', '2,708 nodes')
    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
