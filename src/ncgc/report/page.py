"""From data to one self-contained page: it loads nothing from elsewhere, and no text of the data can become markup."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ncgc.report.data import ReportData
from ncgc.report.formatting import class_colours, duration, embedded_json, number, percentage, printable, shortened
from ncgc.report.map_nodes import SUGGESTIONS, map_payload, positions
from ncgc.report.summary import (
    class_shares,
    confidence_histogram,
    confusion,
    headline,
    label_counts,
    summary_rows,
    tiles,
    training_curves,
)

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


def render_report(data: ReportData) -> str:
    """The report as one HTML page; sections without data are left out.

    The page's Content-Security-Policy names the hashes of its own style and scripts, so that a browser runs nothing
    else and connects nowhere, even if a name in the data were taken for markup.

    Args:
        data: everything the page shows.

    Returns:
        HTML text.
    """
    style, first, rest = joined(STYLES), program(FIRST), program(PROGRAM)
    environment = Environment(
        loader=PackageLoader("ncgc.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
    return environment.get_template("report.html").render(
        policy=f"default-src 'none'; img-src data:; style-src {content_hash(style)}; "
        f"script-src {content_hash(first)} {content_hash(rest)}; base-uri 'none'; form-action 'none'",
        style=Markup(style),
        first=Markup(first),
        program=Markup(rest),
        **_sections(data),
    )


def _sections(data: ReportData) -> dict[str, Any]:
    """Values of the template, section by section; None or empty for a section without data."""
    points, curves, histogram = map_payload(data), training_curves(data), confidence_histogram(data)
    reliability = data.reliability if data.reliability and data.reliability.bins else None
    payload = {
        "classes": [shortened(name) for name in data.classes],
        "colours": {
            "light": class_colours(len(data.classes)),
            "dark": class_colours(len(data.classes), dark=True),
        },
        "counts": label_counts(data),
        "unlabelled": int((data.labels < 0).sum()),
        "map": points,
        "shares": class_shares(data),
        "curves": curves,
        "histogram": histogram,
        "reliability": reliability and [[float(c), float(a), int(n)] for c, a, n in reliability.bins],
    }
    return {
        "data": data,
        "payload": embedded_json(payload),
        "headline": headline(data),
        "tiles": tiles(data),
        "summary_rows": summary_rows(data),
        "points": points,
        "curves": curves,
        "histogram": histogram,
        "reliability": reliability,
        "confusion": confusion(data),
        "suggestions": _suggestions(data),
        "reasons": any(suggestion.reason for suggestion in data.suggestions),
        "settings": _settings(data.settings, data),
        "took": duration(data.seconds),
        "number": number,
        "percentage": percentage,
    }


def _suggestions(data: ReportData) -> list[dict[str, Any]]:
    """The table of nodes to label next; ``position`` is the node's index in the map's list, -1 without a map."""
    position = positions(data)
    if not data.suggestions:
        return []
    confidence = data.confidence
    digits = 3 if max(abs(suggestion.score) for suggestion in data.suggestions) < 10 else 1
    rows = []
    for suggestion in data.suggestions[:SUGGESTIONS]:
        likely = int(data.probabilities[suggestion.node].argmax())
        rows.append(
            {
                "position": position.get(suggestion.node, -1),
                "id": shortened(data.node_ids[suggestion.node]),
                "label": shortened(data.classes[likely]),
                "confidence": f"{confidence[suggestion.node]:.2f}",
                "score": f"{suggestion.score:,.{digits}f}",
                "reason": suggestion.reason,
            }
        )
    return rows


def _settings(settings: Mapping[str, Any], data: ReportData) -> dict[str, list[tuple[str, str]]]:
    """The settings as text, changed ones and those at their default apart."""
    words = {"True": "true", "False": "false", "None": "none"}  # as in a configuration file
    rows = [(name, name in data.changed, words.get(str(value), str(value))) for name, value in settings.items()]
    return {
        "changed": [(name, value) for name, changed, value in rows if changed],
        "default": [(name, value) for name, changed, value in rows if not changed],
    }


@cache
def joined(names: tuple[str, ...]) -> str:
    """Asset files in one text.

    Args:
        names: of files in the folder assets.

    Returns:
        Their contents, in this order.
    """
    folder = files("ncgc.report") / "assets"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def program(names: tuple[str, ...]) -> str:
    """Scripts in one function, so that their names stay out of the global scope.

    Args:
        names: of files in the folder assets.

    Returns:
        JavaScript.
    """
    return f'(() => {{\n"use strict";\n{joined(names)}}})();'


def content_hash(text: str) -> str:
    """The hash that allows a script or style in a Content-Security-Policy, and no other text.

    Args:
        text: the script or style, exactly as in the page.

    Returns:
        The policy's source expression, 'sha256-…'.
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
