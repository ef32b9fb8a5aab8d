"""An epoch of each method beside its PyG reference: the same method around a network of PyG layers, in one process.

An epoch is what training does once: the method's own loss, the backward pass, Adam's step and the evaluation pass. Both
forms take turns, a training of some epochs each; times are medians over all epochs but the first of each.

Of M3S and self-training an epoch is one of their GCN, of Violin one of any of its three trainings.
"""

from __future__ import annotations

from statistics import median
from typing import Any, cast

import numpy as np
from torch import nn

from ncgc.datasets import make_split
from ncgc.graph import Graph
from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.registry import find_classifier
from ncgc.nn import Output
from ncgc.params.presets import method_preset
from ncgc_bench.speed import pyg_reference_methods, pyg_reference_stages
from ncgc_bench.speed.pyg_reference_stages import HOOKS

EPOCHS = 12
NETWORKS = {**pyg_reference_methods.NETWORKS, **pyg_reference_stages.NETWORKS}
ON_ROWS = ("sgc", "mlp_ppr", "mlp")  # ours train on the labelled rows alone


def pyg_reference(name: str) -> type[NetworkClassifier]:
    """The PyG reference of a method.

    It keeps the method's loss, stopping rule and optimiser, so the two differ in the network alone, and in the nodes
    that go through it: PyG layers pass all of them.

    Args:
        name: a method of the registry that trains a network, one of :data:`NETWORKS`.

    Returns:
        A subclass of the method with the same parameters.
    """
    kind = cast(Any, find_classifier(name))
    make = NETWORKS[name]

    class Reference(*HOOKS.get(name, ()), kind):  # type: ignore[misc, valid-type]
        def network(self, data: TrainingData) -> nn.Module:
            return make(self, data)

        def depth(self) -> None:
            """PyG layers pass all nodes."""

        def groups(self, network: nn.Module) -> list[dict[str, Any]]:
            return [{"params": list(network.parameters()), "weight_decay": self.weight_decay}]

        def infer(self, network: nn.Module, operators: Any) -> Output:
            return cast(Output, network(operators, None))

    if name in ON_ROWS:
        Reference.train, Reference.loss = NetworkClassifier.train, NetworkClassifier.loss
    return Reference


def measure_method(name: str, graph: Graph, rounds: int = 3, epochs: int = EPOCHS) -> dict[str, Any]:
    """Time an epoch of a method and of its PyG reference.

    Args:
        name: the method, one of :data:`NETWORKS`.
        graph: a graph with a "random" split.
        rounds: trainings of each form; they take turns.
        epochs: length of each training.

    Returns:
        Data set, method, milliseconds of both, and how many times faster ours is. The fields are those of the stored
        measurements, in which "stock" is the PyG reference.
    """
    settings = method_preset(name, graph.name)
    settings["epochs"] = epochs
    split = make_split(graph, "random", seed=0)
    forms = {"ours": find_classifier(name), "reference": pyg_reference(name)}
    seconds: dict[str, list[float]] = {form: [] for form in forms}
    for _ in range(rounds):
        for form, kind in forms.items():
            model: Any = kind(**settings, random_state=0)
            seconds[form] += epoch_seconds(model.fit(graph, split).history_["seconds"])
    times = {form: 1000 * median(values) for form, values in seconds.items()}
    return {
        "dataset": graph.name,
        "method": name,
        "ours_ms": times["ours"],
        "stock_ms": times["reference"],
        "over_stock": times["reference"] / times["ours"],
    }


def epoch_seconds(cumulative: np.ndarray) -> list[float]:
    """The length of every epoch but the first, which also warms up.

    Args:
        cumulative: (epochs,) seconds from the start of the training to the end of each epoch.

    Returns:
        epochs − 1 lengths in seconds.

    >>> epoch_seconds(np.array([5.0, 6.0, 8.0]))
    [1.0, 2.0]
    """
    lengths: list[float] = np.diff(cumulative).tolist()
    return lengths
