"""MLP: what the features alone say."""

from __future__ import annotations

from torch import Tensor, nn

from ncgc.models.network_classifier import Task
from ncgc.models.networks import TwoLayerMLP
from ncgc.models.row_classifier import OnRows, RowNetwork
from ncgc.ops import FeatureMatrix


class MLP(OnRows):
    """Z = ReLU(X·W₀ + b₀)·W₁ + b₁ with dropout before both products; the edges are not looked at.

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

    def network(self, task: Task) -> nn.Module:
        return TwoLayerMLP(task.num_features, self.hidden, task.num_classes, self.dropout, generator=task.weights)

    def rows(self, task: Task, network: RowNetwork, nodes: Tensor) -> FeatureMatrix:
        return FeatureMatrix(task.graph.features[nodes.numpy()])
