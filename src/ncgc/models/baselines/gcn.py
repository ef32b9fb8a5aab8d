"""GCN, as its authors trained it."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import nn

from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.networks import TwoLayerGCN


class GCN(NetworkClassifier, hidden=16, patience=None):
    """Z = Â·ReLU(Â·X·W₀)·W₁ without biases, dropout before both products, L2 on W₀ alone (Kipf and Welling, 2017).

    Their rule to stop: the validation loss exceeds the mean of the ten before it. The last weights are kept.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> GCN(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GCN"
    paper = "Kipf and Welling, ICLR 2017"
    family = "classic"
    cost = "two products with rows of Â around the labels an epoch"
    keep = "last"
    keep_options: ClassVar[dict[str, Any]] = {"window": 10}

    def network(self, data: TrainingData) -> nn.Module:
        return TwoLayerGCN(data.num_features, self.hidden, data.num_classes, self.dropout, generator=data.weights)

    def depth(self) -> int:
        return 2

    def groups(self, network: nn.Module) -> list[dict[str, Any]]:
        parameters = dict(network.named_parameters())
        first = parameters.pop("first")
        return [
            {"params": [first], "weight_decay": self.weight_decay},
            {"params": list(parameters.values()), "weight_decay": 0.0},
        ]
