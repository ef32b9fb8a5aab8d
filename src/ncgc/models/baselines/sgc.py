"""SGC: a linear model on features that were propagated beforehand."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.models.network_classifier import TrainingData
from ncgc.models.networks import fan_in_bias
from ncgc.models.row_classifier import RowClassifier
from ncgc.nn import GraphOperators, Output
from ncgc.nn.weights import fan_in
from ncgc.ops import FeatureMatrix, linear, propagate
from ncgc.params.parameter import declared
from ncgc.training import LastEpoch, StoppingRule


class SGC(
    RowClassifier, without=("hidden", "dropout", "patience"), learning_rate=0.2, weight_decay=1.3027e-5, epochs=100
):
    """Z = Âᵏ·X·W + b (Wu et al., 2019): logistic regression on Âᵏ·X, of which training needs the labelled rows only.

    As the authors do, the last weights are kept and no validation node is used. Their weight decay, found by 60
    trials on the validation nodes, is taken as given. There is no hidden layer, so the embeddings are the logits.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> SGC(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "SGC"
    paper = "Wu et al., ICML 2019"
    family = "classic"
    cost = "k products with Â beforehand, none an epoch"

    steps: int = declared(2, "propagation steps (k)", low=0)

    def network(self, data: TrainingData) -> nn.Module:
        return SGCNetwork(data.num_features, data.num_classes, self.steps, data.weights)

    def stopping_rule(self, graph: Graph, split: Split) -> StoppingRule:
        return LastEpoch()


class SGCNetwork(nn.Module):
    """Âᵏ·(X·W) + b: with the product with W first there are K columns to propagate and not D."""

    def __init__(self, in_features: int, num_classes: int, steps: int, generator: torch.Generator | None = None):
        super().__init__()
        self.weight = fan_in(in_features, num_classes, generator)
        self.bias = fan_in_bias(in_features, num_classes, generator)
        self.steps = steps

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        logits = self.propagate(operators, linear(operators.features, self.weight)) + self.bias
        return Output(logits, logits)

    def layers(self, x: FeatureMatrix, generator: torch.Generator | None = None) -> Output:
        """The linear map of any rows of Âᵏ·X."""
        logits = linear(x, self.weight) + self.bias
        return Output(logits, logits)

    def propagate(self, operators: GraphOperators, z: Tensor) -> Tensor:
        """Âᵏ·Z."""
        for _ in range(self.steps):
            z = propagate(operators.gcn, z)
        return z
