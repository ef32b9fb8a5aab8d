"""An epoch of each method beside the same method around a network of stock PyG layers, in one process.

An epoch is what training does once: the method's own loss, the backward pass, Adam's step and the look at the validation
nodes. Both forms take turns, a training of some epochs each; times are medians over all epochs but the first of each.

Of M3S and self-training an epoch is one of their GCN, of Violin one of any of its three trainings.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np

from ncgc.datasets import make_split
from ncgc.graph import Graph
from ncgc.models.registry import find_classifier
from ncgc.params.presets import method_preset
from ncgc_bench.render import Table
from ncgc_bench.speed.pyg_reference_forms import NETWORKS, stock_form

EPOCHS = 12


def measure_method(name: str, graph: Graph, rounds: int = 3, epochs: int = EPOCHS) -> dict[str, Any]:
    """Milliseconds of an epoch of ours and of the stock form, and how many times faster ours is."""
    settings = method_preset(name, graph.name)
    settings["epochs"] = epochs
    split = make_split(graph, "random", seed=0)
    forms = {"ours": find_classifier(name), "stock": stock_form(name)}
    seconds: dict[str, list[float]] = {form: [] for form in forms}
    for _ in range(rounds):
        for form, kind in forms.items():
            model: Any = kind(**settings, random_state=0)
            seconds[form] += epoch_seconds(model.fit(graph, split).history_["seconds"])
    times = {form: 1000 * median(values) for form, values in seconds.items()}
    return {"dataset": graph.name, "method": name, "ours_ms": times["ours"], "stock_ms": times["stock"]} | {
        "over_stock": times["stock"] / times["ours"]
    }


def epoch_seconds(cumulative: np.ndarray) -> list[float]:
    """The length of every epoch but the first from the seconds at which each ended.

    >>> epoch_seconds(np.array([5.0, 6.0, 8.0]))
    [1.0, 2.0]
    """
    lengths: list[float] = np.diff(cumulative).tolist()
    return lengths


def speed_table(rows: list[dict[str, Any]]) -> Table:
    """A row a method, three columns a data set."""
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    found = {(row["method"], row["dataset"]): row for row in rows}
    lines = []
    for name in NETWORKS:
        cells = [found.get((name, dataset)) for dataset in datasets]
        if any(cells):
            words = [f"{c['ours_ms']:.1f} / {c['stock_ms']:.1f} ({c['over_stock']:.1f}×)" if c else "" for c in cells]
            lines.append((find_classifier(name).title, *words))
    return Table("Milliseconds of an epoch, ours / stock PyG (times faster)", ("method", *datasets), tuple(lines))
