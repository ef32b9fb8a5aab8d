"""Numbers of others, to stand beside ours: the paper's tables and figures, and its baselines' own, from ``published.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

Curve = tuple[list[float], list[float]]


def published(table: str, dataset: str, backbone: str, variant: str) -> tuple[float, float] | None:
    """Mean and standard deviation of the test accuracy in percent, None where the paper has no such cell.

    ``table`` is "main" (variants "ncgc" and "plain") or "ablation" (variants as in `plans.ABLATION`). Plain are the
    paper's starred rows (GCN*, GAT*, GraphSAGE*) and its only rows for GCNII and APPNP.

    >>> published("main", "cora", "gcn", "ncgc"), published("main", "cora", "gcn", "plain")
    ((86.16, 0.81), (84.6, 0.66))
    >>> published("main", "cora", "appnp", "ncgc") is None
    True
    """
    cell = _at("tables", table, dataset, backbone, variant)
    return None if cell is None else (float(cell[0]), float(cell[1]))


def published_curve(parameter: str, dataset: str, backbone: str) -> Curve | None:
    """The values of a swept parameter (named as in `plans.SWEEPS`) and the accuracy at each, in percent; None if not swept.

    >>> values, accuracies = published_curve("epsilon", "cora", "gcn")
    >>> values[3], accuracies[3]
    (0.04, 86.16)
    """
    points = _at("curves", parameter, backbone, dataset)
    if points is None:
        return None
    return [float(value) for value, _ in points], [float(accuracy) for _, accuracy in points]


def authors_figure(split: str, dataset: str, method: str) -> float | None:
    """The test accuracy in percent that the authors of a method report on a data set's ``split``, None where they do not.

    >>> authors_figure("public", "cora", "gcn"), authors_figure("random", "cora", "gcn")
    (81.5, None)
    """
    found = _at("authors", split, method, dataset)
    return None if found is None else float(found)


def _at(*keys: str) -> Any:
    found: Any = _numbers()
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return found


@cache
def _numbers() -> dict[str, Any]:
    return tomllib.loads((files("ncgc_bench") / "published.toml").read_text(encoding="utf-8"))
