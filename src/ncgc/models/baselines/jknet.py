"""JK-Net: a classifier that sees the hidden states of all depths."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.networks import fan_in_bias
from ncgc.nn import GraphOperators, Output
from ncgc.nn.weights import fan_in, glorot
from ncgc.ops import FeatureMatrix, linear, propagate, relu_dropout
from ncgc.params.parameter import declared


class JKNet(NetworkClassifier, hidden=32, learning_rate=0.005):
    """H_l = dropout(ReLU(Â·H_{l−1}·W_l + b_l)), Z = combine(H_1, …, H_L)·V + c (Xu et al., 2018).

    Combined by concatenation or by the largest entry of each column; the third way of the paper, an LSTM, is not here.
    The authors' code is not public: width, depth, step size and decay are the paper's for Cora; dropout on X as in GCN,
    the epochs and the rule to keep one (highest validation accuracy) are ours.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> JKNet(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "JK-Net"
    paper = "Xu et al., ICML 2018"
    family = "deep"
    cost = "a product with rows of Â around the labels a layer and epoch"
    keep = "accuracy"

    num_layers: int = declared(6, "number of propagation layers (L)", low=1)
    combine: str = declared("concat", "how the depths are combined", choices=("concat", "max"))

    def depth(self) -> int:
        return self.num_layers

    def network(self, data: TrainingData) -> nn.Module:
        return JKNetwork(data, self.hidden, self.dropout, self.num_layers, self.combine)


class JKNetwork(nn.Module):
    """Layers of GCN and one linear map on all of them; what it maps are the embeddings."""

    def __init__(self, data: TrainingData, hidden: int, dropout: float, num_layers: int, combine: str):
        super().__init__()
        widths = [data.num_features] + [hidden] * num_layers
        self.weights = nn.ParameterList(glorot(widths[i], hidden, data.weights) for i in range(num_layers))
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(hidden)) for _ in range(num_layers))
        combined = hidden * num_layers if combine == "concat" else hidden
        self.classes = fan_in(combined, data.num_classes, data.weights)
        self.classes_bias = fan_in_bias(combined, data.num_classes, data.weights)
        self.dropout, self.combine = dropout, combine

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        h: Tensor | FeatureMatrix = operators.features.dropout(self.dropout, generator, self.training)
        depths = []
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            z = propagate(operators.of_layer(i).gcn, linear(h, weight)) + bias
            h = relu_dropout(z, self.dropout, generator, self.training)
            depths.append(h)
        depths = [h[: len(depths[-1])] for h in depths]
        combined = torch.cat(depths, dim=1) if self.combine == "concat" else torch.stack(depths).amax(dim=0)
        return Output(combined, torch.addmm(self.classes_bias, combined, self.classes))
