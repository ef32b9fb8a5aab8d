"""From data to one self-contained page: nothing is loaded from anywhere, and no word of the data can become markup."""

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
from ncgc.report.formatting import class_colours, duration, embedded_json, number, printable, share, shortened
from ncgc.report.map_nodes import SUGGESTIONS, map_payload, positions
from ncgc.report.summary import (
    class_shares,
    confidence_histogram,
    confusion,
    facts,
    headline,
    label_counts,
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
    """The page as one HTML text. Sections without data are left out.

    The page's Content-Security-Policy names the fingerprints of its own style and scripts, so that a browser runs nothing
    else in it and connects nowhere, even if a name in the data should find a way to look like markup.
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
        policy=f"default-src 'none'; img-src data:; style-src {fingerprint(style)}; "
        f"script-src {fingerprint(first)} {fingerprint(rest)}; base-uri 'none'; form-action 'none'",
        style=Markup(style),
        first=Markup(first),
        program=Markup(rest),
        **_sections(data),
    )


def _sections(data: ReportData) -> dict[str, Any]:
    """What the template shows, section by section; None or empty where there is nothing to show."""
    points, curves, histogram = map_payload(data), training_curves(data), confidence_histogram(data)
    reliability = data.reliability if data.reliability and data.reliability.bins else None
    payload = {
        "classes": [shortened(name) for name in data.classes],
        "colours": {
            "light": class_colours(len(data.classes)),
            "dark": class_colours(len(data.classes), dark=True),
        },
        "counts": label_counts(data),
        "bare": int((data.labels < 0).sum()),
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
        "facts": facts(data),
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
        "share": share,
    }


def _suggestions(data: ReportData) -> list[dict[str, Any]]:
    """The table of nodes to label next; ``position`` is the node's place in the map's list, -1 without a map."""
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
    """The settings as text, those that were changed apart from those at their default."""
    words = {"True": "true", "False": "false", "None": "none"}  # as in a configuration file
    rows = [(name, name in data.changed, words.get(str(value), str(value))) for name, value in settings.items()]
    return {
        "changed": [(name, value) for name, changed, value in rows if changed],
        "default": [(name, value) for name, changed, value in rows if not changed],
    }


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
