"""How the page writes numbers, names and data, and which colour it gives each class."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
from markupsafe import Markup

LONGEST = 200  # characters of a node's id that the page keeps: enough to recognise it
_RISKY = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

# found by search: no two closer than 0.156 in OKLab, nor than 0.093 as seen by protans, deutans and tritans (the seven
# chromatic colours of Okabe and Ito: 0.156 and 0.076); the same hues for white and for near-black
ON_WHITE = (
    "#3778d7",  # blue
    "#eb881f",  # orange
    "#44b879",  # green
    "#a9164e",  # crimson
    "#ab8efe",  # lavender
    "#26dafe",  # cyan
    "#747c12",  # olive
    "#faa9c1",  # pink
    "#106278",  # petrol
    "#6f3bb2",  # purple
    "#c4d018",  # lime
    "#aa728f",  # mauve
)
ON_BLACK = (
    "#258ff7",
    "#ff9d1b",
    "#22d47d",
    "#b13d5a",
    "#aaa8ff",
    "#2ae7fd",
    "#7d8720",
    "#feb6c1",
    "#3d748d",
    "#8044d2",
    "#d5eb44",
    "#b48595",
)
_GOLDEN = 137.50776405003785  # degrees, the golden angle: consecutive hues are far apart
_LIGHTNESS = (0.60, 0.74, 0.48)

# OKLab to linear sRGB (Ottosson, 2020)
_TO_CONES = np.array(
    [[1.0, 0.3963377774, 0.2158037573], [1.0, -0.1055613458, -0.0638541728], [1.0, -0.0894841775, -1.2914855480]]
)
_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def embedded_json(value: Any) -> Markup:
    """JSON for a <script> element: no character that could end the element, and none that UTF-8 cannot encode.

    Args:
        value: what JSON can hold; NaN and infinity are refused.

    Returns:
        The text, marked as safe for the template.

    >>> print(embedded_json("</script>"))
    "\\u003c/script\\u003e"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(_RISKY.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def printable(value: Any) -> str:
    """A value as text that HTML can hold; NUL and half a surrogate pair become a replacement character.

    Args:
        value: anything.

    Returns:
        Its text.

    >>> printable("a\\x00b")
    'a\ufffdb'
    """
    return _UNPRINTABLE.sub("\ufffd", str(value))


def shortened(value: Any, longest: int = LONGEST) -> str:
    """Text cut to a length, with an ellipsis.

    Args:
        value: anything; its text is cut.
        longest: characters at most.

    Returns:
        The text, with an ellipsis at its end where it was cut.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    text = str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def number(value: Any) -> str:
    """A value as people write it: thousands in groups, three significant figures, yes and no.

    Args:
        value: a number, a truth value, None or text.

    Returns:
        The text.

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


def percentage(value: float) -> str:
    """A fraction between 0 and 1 as a percentage with one decimal.

    Args:
        value: from 0 to 1.

    Returns:
        The text.

    >>> percentage(0.8312)
    '83.1 %'
    """
    return f"{100 * value:.1f} %"


def duration(seconds: float) -> str:
    """A length of time as people write it.

    Args:
        seconds: the length in seconds.

    Returns:
        The text.

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
    """A count and its noun.

    Args:
        count: how many.
        word: the noun in the singular; its plural ends in s.

    Returns:
        The text.

    >>> plural(1, "node"), plural(2708, "node")
    ('1 node', '2,708 nodes')
    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def class_colours(count: int, dark: bool = False) -> list[str]:
    """One colour per class.

    Up to twelve are distinct for people with any kind of colour vision; more are spread over hues and lightnesses.

    Args:
        count: number of classes.
        dark: for a dark page.

    Returns:
        #rrggbb of each class.

    >>> class_colours(2)
    ['#3778d7', '#eb881f']
    >>> len(set(class_colours(300)))
    300
    """
    if count <= len(ON_WHITE):
        return list((ON_BLACK if dark else ON_WHITE)[:count])
    lift = 0.08 if dark else 0.0
    colours = []
    for i in range(count):
        lightness = _LIGHTNESS[i % 3] + lift + 0.015 * (i // 12 % 4)  # similar hues differ in lightness
        colours.append(_oklch(lightness, 0.14 - 0.05 * (i // 3 % 2), (255 + i * _GOLDEN) % 360))
    return colours


def _oklch(lightness: float, chroma: float, hue: float) -> str:
    """#rrggbb of an OKLCH colour; chroma is reduced until sRGB can show it."""
    angle = np.radians(hue)
    while True:
        lab = np.array([lightness, chroma * np.cos(angle), chroma * np.sin(angle)])
        linear = _TO_RGB @ (_TO_CONES @ lab) ** 3
        if chroma <= 0 or (linear.min() >= 0 and linear.max() <= 1):
            break
        chroma -= 0.01
    linear = linear.clip(0, 1)
    shown = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * float(part)):02x}" for part in shown)
