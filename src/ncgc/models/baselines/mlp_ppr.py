"""MLP on features smoothed by personalised PageRank: a shallow model that no epoch takes to the graph."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from ncgc.models.network_classifier import TrainingData
from ncgc.models.networks import TwoLayerMLP
from ncgc.models.row_classifier import RowClassifier, RowNetwork, smoothed_rows
from ncgc.nn import GraphOperators, Output
from ncgc.ops import FeatureMatrix, linear, personalised_pagerank
from ncgc.params.parameter import declared


class MLPOnPageRank(RowClassifier, weight_decay=0.01, features="centred"):
    """Z = ReLU(X̄/σ·W₀ + b₀)·W₁ + b₁ with X̄ = Σ_k α(1−α)ᵏ·Âᵏ·X, dropout before both products.

    X̄ is APPNP's propagation, made once before training. Smoothing shortens the rows, in some graphs much and in others little;
    σ brings those of the training nodes to the mean length 1 again. The method and its settings are ours: APPNP's α, steps and
    width, the epoch of lowest validation loss; the decay was chosen on the validation nodes of Cora, CiteSeer and PubMed.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> MLPOnPageRank(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "MLP on PageRank-smoothed features"
    paper = "ours, after Gasteiger et al., ICLR 2019"
    family = "deep"
    cost = "the products with Â beforehand, none an epoch"

    alpha: float = declared(0.1, "chance to return to the start", low=0, high=1)
    steps: int = declared(10, "propagation steps", low=0)

    def network(self, data: TrainingData) -> nn.Module:
        return PageRankMLP(data, self.hidden, self.dropout, self.alpha, self.steps)

    def rows(self, data: TrainingData, network: RowNetwork, nodes: Tensor) -> FeatureMatrix:
        own = cast(PageRankMLP, network)
        return FeatureMatrix((own.smoothed(data.operators, nodes) * own.scale).numpy())


class PageRankMLP(TwoLayerMLP):
    """A two-layer MLP of X̄/σ; on all nodes it is X·W₀ that is propagated, hidden columns and not D."""

    scale: Tensor  # 1/σ

    def __init__(self, data: TrainingData, hidden: int, dropout: float, alpha: float, steps: int):
        super().__init__(data.num_features, hidden, data.num_classes, dropout, generator=data.weights)
        self.alpha, self.steps = alpha, steps
        lengths = self.smoothed(data.operators, data.train).norm(dim=1)
        self.register_buffer("scale", 1.0 / lengths.mean().clamp_min(1e-6))

    def propagate(self, operators: GraphOperators, z: Tensor) -> Tensor:
        """Σ_k α(1−α)ᵏ·Âᵏ·Z."""
        return personalised_pagerank(operators.gcn, z, self.alpha, self.steps)

    def smoothed(self, operators: GraphOperators, nodes: Tensor) -> Tensor:
        """Rows of the smoothed features X̄.

        Args:
            operators: of the graph.
            nodes: (l,) numbers.

        Returns:
            (l, D).
        """
        return smoothed_rows(operators, nodes, lambda z: self.propagate(operators, z))

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        features = operators.features.dropout(self.dropout, generator, self.training)
        return self.head(self.propagate(operators, linear(features, self.first)) * self.scale, generator)
