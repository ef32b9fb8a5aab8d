"""NormProp: directions say the class, lengths after propagation say whether the neighbours agree."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.networks import fan_in_bias
from ncgc.nn import GraphOperators, Output
from ncgc.nn.weights import fan_in
from ncgc.ops import linear, propagate, relu_dropout
from ncgc.params.parameter import declared


class NormProp(NetworkClassifier, hidden=32, dropout=0.3, weight_decay=0.01, epochs=200, patience=None):
    """h = Â²·h⁰ with unit rows h⁰ = MLP(X)/‖MLP(X)‖; the class is that of the prototype with the largest cosine (Zhang et al., 2025).

    Loss: mean_train (1 − cos(h_i, P_y)) + μ·(1 − mean_S ‖h_i‖/u_i). u = Â²·1 is the length that h_i has if all its
    neighbours point the same way, S the nodes for neither training nor validation whose largest cosine exceeds τ, from the
    epoch after the warm-up. The prototypes P are the corners of a regular simplex, in closed form, where the authors find
    them numerically; the mean over S is that of all of its nodes and not of 5,000 at most. The logits are the cosines.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> NormProp(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "NormProp"
    paper = "Zhang et al., AAAI 2025"
    family = "pseudo-labels"
    cost = "two products of Â and n×8 an epoch"
    keep = "accuracy"

    dimension: int = declared(8, "columns of the sphere, or as many as the prototypes need", low=1)
    regularisation: float = declared(1.3, "μ: weight of the lengths", low=0)
    warmup: int = declared(5, "epochs before the lengths count", low=0)
    threshold: float = declared(0.8, "τ: cosine above which a node's length counts", low=-1, high=1)

    def training_data(self, graph: Graph, split: Split) -> TrainingData:
        apart = np.concatenate([split.train, split.val])
        self._others = torch.from_numpy(np.setdiff1d(np.arange(graph.num_nodes), apart))
        return super().training_data(graph, split)

    def network(self, data: TrainingData) -> nn.Module:
        prototypes = simplex(data.num_classes, self.dimension)
        return NormPropNetwork(data.num_features, self.hidden, prototypes, self.dropout, data.weights)

    def loss(self, data: TrainingData, network: nn.Module, epoch: int) -> dict[str, Tensor]:
        h, cosines = network(data.operators, data.drops)
        parts = {"class": 1 - cosines[data.train, data.labels].mean()}
        if epoch > self.warmup and self.regularisation > 0:
            nodes = self._others
            sure = nodes[cosines.detach()[nodes].amax(dim=1) > self.threshold]
            if len(sure):
                lengths = torch.linalg.vector_norm(h, dim=1) / _bound(data.operators)
                parts["length"] = self.regularisation * (1 - lengths[sure].mean())
        return parts


class NormPropNetwork(nn.Module):
    """A linear map, LayerNorm, ReLU, a linear map onto the sphere, and two propagations; the logits are cosines.

    Args:
        prototypes: (K, d) unit rows.
    """

    prototypes: Tensor

    def __init__(
        self,
        in_features: int,
        hidden: int,
        prototypes: Tensor,
        dropout: float,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        dimension = prototypes.shape[1]
        self.first, self.first_bias = (
            fan_in(in_features, hidden, generator),
            fan_in_bias(in_features, hidden, generator),
        )
        self.norm = nn.LayerNorm(hidden, eps=1e-6)
        self.second, self.second_bias = (
            fan_in(hidden, dimension, generator),
            fan_in_bias(hidden, dimension, generator),
        )
        self.register_buffer("prototypes", prototypes)
        self.dropout = dropout

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        x = linear(operators.features.dropout(self.dropout, generator, self.training), self.first) + self.first_bias
        x = relu_dropout(self.norm(x), self.dropout, generator, self.training)
        h = normalize(x @ self.second + self.second_bias)
        h = propagate(operators.gcn, propagate(operators.gcn, h))
        return Output(h, normalize(h) @ self.prototypes.t())


def simplex(classes: int, dimension: int) -> Tensor:
    """Unit vectors with a cosine of −1/(K−1) between any two.

    Args:
        classes: number K of vectors.
        dimension: d, raised to K−1 where it is lower; columns beyond that are zero.

    Returns:
        (K, d).

    >>> simplex(3, 2) @ simplex(3, 2).t()
    tensor([[ 1.0000, -0.5000, -0.5000],
            [-0.5000,  1.0000, -0.5000],
            [-0.5000, -0.5000,  1.0000]])
    """
    m = max(classes - 1, 1)
    corners = torch.zeros(classes, max(dimension, m), dtype=torch.float64)
    corners[:-1, :m] = (
        torch.eye(m, dtype=torch.float64)[: classes - 1] * (1 + 1 / m) ** 0.5 - ((m + 1) ** 0.5 + 1) / m**1.5
    )
    corners[-1, :m] = m**-0.5
    return corners.float()


def _bound(operators: GraphOperators) -> Tensor:
    """(n,) u = Â²·1."""
    ones = torch.ones(operators.num_nodes, 1, dtype=operators.dtype)
    return propagate(operators.gcn, propagate(operators.gcn, ones)).squeeze(1)
