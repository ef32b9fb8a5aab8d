"""MLP on features smoothed by personalised PageRank: a shallow model that no epoch takes to the graph."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from ncgc.methods.declared import declared
from ncgc.methods.learned import Task
from ncgc.methods.networks import TwoLayerMLP
from ncgc.methods.on_rows import OnRows, RowNetwork, smoothed_rows
from ncgc.nn import GraphOperators, Output
from ncgc.ops import FeatureMatrix, linear, personalised_pagerank


class MLPOnPageRank(OnRows, weight_decay=5e-3, features="unit"):
    """Z = ReLU((X̄ − μ)/σ·W₀ + b₀)·W₁ + b₁ with X̄ = Σ_k α(1−α)ᵏ·Âᵏ·X, dropout before both products.

    X̄ is APPNP's propagation, made once before training. Smoothing draws all rows together, in some graphs much and in others
    little; μ is the mean of all rows, and σ brings the rows of the training nodes to the mean length 1 again. The method and
    its settings are ours: APPNP's α, steps, width and decay, the decay on all weights, the epoch of lowest validation loss.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> MLPOnPageRank(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "MLP on PageRank-smoothed features"
    paper = "ours, after Gasteiger et al., ICLR 2019"
    family = "classic"
    cost = "the products with Â beforehand, none an epoch"

    alpha: float = declared(0.1, "chance to return to the start", low=0, high=1)
    steps: int = declared(10, "propagation steps", low=0)

    def network(self, task: Task) -> nn.Module:
        return PageRankMLP(task, self.hidden, self.dropout, self.alpha, self.steps)

    def rows(self, task: Task, network: RowNetwork, nodes: Tensor) -> FeatureMatrix:
        own = cast(PageRankMLP, network)
        return FeatureMatrix(own.scaled(own.smoothed(task.operators, nodes)).numpy())


class PageRankMLP(TwoLayerMLP):
    """A two-layer MLP of (X̄ − μ)/σ; on all nodes it is X·W₀ that is propagated, hidden columns and not D."""

    mean: Tensor
    scale: Tensor

    def __init__(self, task: Task, hidden: int, dropout: float, alpha: float, steps: int):
        super().__init__(task.num_features, hidden, task.num_classes, dropout, generator=task.weights)
        self.alpha, self.steps = alpha, steps
        operators = task.operators
        ones = torch.ones(operators.num_nodes, 1, dtype=operators.dtype)
        reach = self.propagate(operators, ones)
        self.register_buffer("mean", operators.features.transposed_product(reach).t() / operators.num_nodes)
        lengths = (self.smoothed(operators, task.train) - self.mean).norm(dim=1)
        self.register_buffer("scale", 1.0 / lengths.mean().clamp_min(1e-6))

    def propagate(self, operators: GraphOperators, z: Tensor) -> Tensor:
        """Σ_k α(1−α)ᵏ·Âᵏ·Z."""
        return personalised_pagerank(operators.gcn, z, self.alpha, self.steps)

    def smoothed(self, operators: GraphOperators, nodes: Tensor) -> Tensor:
        """(l, D) rows of X̄."""
        return smoothed_rows(operators, nodes, lambda z: self.propagate(operators, z))

    def scaled(self, rows: Tensor) -> Tensor:
        """(X̄ − μ)/σ for rows of X̄, or the product of both with W₀."""
        return (rows - self.mean) * self.scale

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        features = operators.features.dropout(self.dropout, generator, self.training)
        z = self.propagate(operators, linear(features, self.first))
        return self.head((z - self.mean @ self.first) * self.scale, generator)
