"""MLP: what the features alone say."""

from __future__ import annotations

from torch import Tensor, nn

from ncgc.models.network_classifier import TrainingData
from ncgc.models.networks import TwoLayerMLP
from ncgc.models.row_classifier import RowClassifier, RowNetwork
from ncgc.ops import FeatureMatrix


class MLP(RowClassifier):
    """Z = ReLU(X·W₀ + b₀)·W₁ + b₁ with dropout before both products; the edges are not used.

    The settings are ours: those of a GCN of 64 columns, with the epoch of lowest validation loss.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> MLP(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "MLP (features only)"
    paper = "a two-layer perceptron"
    family = "no learning"  # from the graph
    cost = "no product with the graph"

    def network(self, data: TrainingData) -> nn.Module:
        return TwoLayerMLP(data.num_features, self.hidden, data.num_classes, self.dropout, generator=data.weights)

    def rows(self, data: TrainingData, network: RowNetwork, nodes: Tensor) -> FeatureMatrix:
        return FeatureMatrix(data.graph.features[nodes.numpy()])
