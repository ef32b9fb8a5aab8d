"""Published results to compare with, from published.toml: the paper's own, and those of other methods' authors."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

Curve = tuple[list[float], list[float]]


def published(table: str, dataset: str, backbone: str, variant: str) -> tuple[float, float] | None:
    """A cell of the paper's tables.

    Args:
        table: "main", with the variants of `plans.VARIANTS`, or "ablation", with those of `plans.ABLATION`.
        dataset: name of the data set.
        backbone: name of the backbone.
        variant: "plain" stands for the paper's starred rows (GCN*, GAT*, GraphSAGE*) and its only rows for GCNII and
            APPNP.

    Returns:
        Mean and standard deviation of the test accuracy in per cent; None where the paper has no such cell.

    >>> published("main", "cora", "gcn", "ncgc"), published("main", "cora", "gcn", "plain")
    ((86.16, 0.81), (84.6, 0.66))
    >>> published("main", "cora", "appnp", "ncgc") is None
    True
    """
    cell = _at("tables", table, dataset, backbone, variant)
    return None if cell is None else (float(cell[0]), float(cell[1]))


def published_curve(parameter: str, dataset: str, backbone: str) -> Curve | None:
    """A curve of the paper's figures.

    Args:
        parameter: a name of `plans.SWEEPS`.
        dataset: name of the data set.
        backbone: name of the backbone.

    Returns:
        The values of the parameter and the accuracy at each in per cent; None where the paper has no such curve.

    >>> values, accuracies = published_curve("epsilon", "cora", "gcn")
    >>> values[3], accuracies[3]
    (0.04, 86.16)
    """
    points = _at("curves", parameter, backbone, dataset)
    if points is None:
        return None
    return [float(value) for value, _ in points], [float(accuracy) for _, accuracy in points]


def authors_figure(split: str, dataset: str, method: str) -> float | None:
    """The test accuracy that the authors of a method report.

    Args:
        split: kind of split.
        dataset: name of the data set.
        method: name of the method.

    Returns:
        Per cent; None where they report none.

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
