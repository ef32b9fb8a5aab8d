"""The methods of ncgc.models.registry in their usual form: around a network of stock PyG layers.

:func:`stock_form` is the method itself, with its own loss, rule to keep an epoch and optimiser, around such a network, so
that what differs between the two is the network, and which nodes it passes, alone.
"""

from __future__ import annotations

from typing import Any, cast

from torch import nn

from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.registry import find_classifier
from ncgc.nn import Output
from ncgc_bench.speed import pyg_reference_methods, pyg_reference_stages
from ncgc_bench.speed.pyg_reference_stages import FORMS

NETWORKS = {**pyg_reference_methods.NETWORKS, **pyg_reference_stages.NETWORKS}


def stock_form(name: str) -> type[NetworkClassifier]:
    """The method ``name`` around its network on stock PyG."""
    kind = cast(Any, find_classifier(name))
    make = NETWORKS[name]

    class Form(*FORMS.get(name, ()), kind):  # type: ignore[misc, valid-type]
        def network(self, task: TrainingData) -> nn.Module:
            return make(self, task)

        def depth(self) -> None:
            """Stock layers pass all nodes."""

        def groups(self, network: nn.Module) -> list[dict[str, Any]]:
            return [{"params": list(network.parameters()), "weight_decay": self.weight_decay}]

        def infer(self, network: nn.Module, operators: Any) -> Output:
            return cast(Output, network(operators, None))

    if name in ("sgc", "mlp_ppr", "mlp"):  # ours train on a few rows; the usual form passes all nodes
        Form.train, Form.loss = NetworkClassifier.train, NetworkClassifier.loss
    return Form
