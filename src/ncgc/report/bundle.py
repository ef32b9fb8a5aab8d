"""The page's own style and program, one file an idea in assets/, put together as one text each."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

STYLES = (
    "base.css",
    "page.css",
    "tables.css",
    "map.css",
    "legend.css",
    "charts.css",
    "bars.css",
    "print.css",
)
FIRST = ("theme.js",)  # runs before anything is painted
PROGRAM = (
    "dom.js",
    "points.js",
    "grid.js",
    "view.js",
    "gestures.js",
    "colours.js",
    "raster.js",
    "map.js",
    "tooltip.js",
    "legend.js",
    "search.js",
    "axes.js",
    "curves.js",
    "charts.js",
    "shares.js",
    "main.js",
)


@cache
def joined(names: tuple[str, ...]) -> str:
    """The files one after the other, as they stand."""
    folder = files("ncgc.report") / "assets"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def program(names: tuple[str, ...]) -> str:
    """Scripts that share their names with each other and with nobody else."""
    return f'(() => {{\n"use strict";\n{joined(names)}}})();'


def fingerprint(text: str) -> str:
    """What a Content-Security-Policy calls a text: a page with it runs this text and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
