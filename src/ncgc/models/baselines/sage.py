"""GraphSAGE with mean aggregation, in full batch."""

from __future__ import annotations

import torch
from torch import nn

from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.nn import GraphOperators, Output
from ncgc.nn.layers import ForwardPass, SAGELayer
from ncgc.ops import relu_dropout


class GraphSAGE(NetworkClassifier):
    """h_i = ReLU(x_i·W_self + mean_{j∈N(i)} x_j·W_neigh + b), and once more without the ReLU (Hamilton et al., 2017).

    The usual port to small graphs: all neighbours and not a sample, all nodes in one batch, sums where the authors
    concatenate, no classifier on top; dropout before both layers, L2 on all weights, the epoch of lowest validation
    loss. The authors give no settings for citation graphs.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> GraphSAGE(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GraphSAGE"
    paper = "Hamilton et al., NIPS 2017"
    family = "classic"
    cost = "two products with rows of D⁻¹A around the labels an epoch"

    def depth(self) -> int:
        return 2

    def network(self, data: TrainingData) -> nn.Module:
        return SAGENetwork(data.num_features, self.hidden, data.num_classes, self.dropout, data.weights)


class SAGENetwork(nn.Module):
    """Two mean-aggregating layers; the hidden states are the embeddings."""

    def __init__(
        self,
        in_features: int,
        hidden: int,
        num_classes: int,
        dropout: float,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        self.first = SAGELayer(in_features, hidden, 0.0, generator)
        self.second = SAGELayer(hidden, num_classes, 0.0, generator)
        self.dropout = dropout

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        first, second = (ForwardPass(operators.of_layer(i), self.training, generator) for i in range(2))
        features = operators.features.dropout(self.dropout, generator, self.training)
        h = relu_dropout(self.first(features, first), self.dropout, generator, self.training)
        z = self.second(h, second)
        return Output(h[: len(z)], z)
