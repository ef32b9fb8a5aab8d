"""The network of GCN*, GAT* and GraphSAGE*: a classic layer with what deep learning has learnt since."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.networks import fan_in_bias
from ncgc.nn import GraphOperators, Output
from ncgc.nn.layers import Hidden
from ncgc.nn.weights import fan_in, glorot
from ncgc.ops import SparseMatrix, attend, first_rows, linear, propagate, relu_dropout
from ncgc.params.parameter import declared


class Tuned(NetworkClassifier, hidden=512, dropout=0.7, learning_rate=0.001, epochs=500, patience=None, features="raw"):
    """What GCN*, GAT* and GraphSAGE* share (Luo et al., 2024): the network, its settings and the rule to keep an epoch.

    H_l = dropout(ReLU(norm(conv(H_{l−1}) [+ H_{l−1}·R_l + r_l]))), Z = H_L·V + c; features as they are and never dropped, L2
    on all parameters, the epoch of highest validation accuracy out of all.
    """

    keep = "accuracy"

    num_layers: int = declared(3, "number of layers (L)", low=1)
    norm: str | None = declared(
        None, "normalisation before the activation", kind=str, choices=("layer", "batch"), optional=True
    )
    residual: bool = declared(False, "add a learnt map of each layer's input to its output")

    def convolution(self, in_features: int, generator: torch.Generator) -> nn.Module:
        """Build one layer, which is called as ``layer(h, operators)``; the hook of a subclass.

        Args:
            in_features: width of its input.
            generator: of its first weights.

        Returns:
            A layer with ``hidden`` outputs.
        """
        raise TypeError(f"{type(self).__name__} must define convolution(in_features, generator).")

    def depth(self) -> int | None:
        return None if self.norm == "batch" else self.num_layers  # a batch norm knows the mean of all nodes

    def network(self, data: TrainingData) -> nn.Module:
        widths = [data.num_features] + [self.hidden] * (self.num_layers - 1)
        convolutions = [self.convolution(width, data.weights) for width in widths]
        return TunedNetwork(convolutions, widths, self.hidden, data, self.dropout, self.norm, self.residual)


class TunedNetwork(nn.Module):
    """Layers with norm and residual around any convolution, and one linear map; the last hidden states are the embeddings."""

    def __init__(
        self,
        convolutions: list[nn.Module],
        widths: list[int],
        hidden: int,
        data: TrainingData,
        dropout: float,
        norm: str | None,
        residual: bool,
    ):
        super().__init__()
        self.convolutions = nn.ModuleList(convolutions)
        self.norms = nn.ModuleList(_norm(norm, hidden) for _ in widths)
        self.residuals = nn.ModuleList(Affine(width, hidden, data.weights) for width in widths if residual)
        self.classes = Affine(hidden, data.num_classes, data.weights)
        self.dropout = dropout

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        h: Hidden = operators.features
        for i, convolution in enumerate(self.convolutions):
            z = convolution(h, operators.of_layer(i))
            if len(self.residuals):
                z = z + self.residuals[i](first_rows(h, len(z)))
            h = relu_dropout(self.norms[i](z), self.dropout, generator, self.training)
        assert isinstance(h, Tensor)
        return Output(h, self.classes(h))


class Affine(nn.Module):
    """H·W + b, begun as torch's Linear, with weights from the generator."""

    def __init__(self, in_features: int, out_features: int, generator: torch.Generator | None):
        super().__init__()
        self.weight = fan_in(in_features, out_features, generator)
        self.bias = fan_in_bias(in_features, out_features, generator)

    def forward(self, h: Hidden) -> Tensor:
        return linear(h, self.weight) + self.bias


class GCNConvolution(nn.Module):
    """Â·H·W + b."""

    def __init__(self, in_features: int, out_features: int, generator: torch.Generator | None):
        super().__init__()
        self.weight = glorot(in_features, out_features, generator)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, h: Hidden, operators: GraphOperators) -> Tensor:
        """Â·H·W + b.

        Args:
            h: H, (n, in) hidden states or features.
            operators: of the graph.

        Returns:
            (n, out).
        """
        return _propagated(operators.gcn, h, self.weight) + self.bias


class SAGEConvolution(nn.Module):
    """mean_{j∈N(i)∪{i}} h_j·W_neigh + b + h_i·W_self: here the mean includes the node itself."""

    def __init__(self, in_features: int, out_features: int, generator: torch.Generator | None):
        super().__init__()
        self.weight = fan_in(in_features, out_features, generator)
        self.self_weight = fan_in(in_features, out_features, generator)
        self.bias = fan_in_bias(in_features, out_features, generator)

    def forward(self, h: Hidden, operators: GraphOperators) -> Tensor:
        near = operators.neighbourhood
        degrees = propagate(near, torch.ones(near.shape[1], 1, dtype=operators.dtype))
        own = first_rows(h, near.shape[0])
        return _propagated(near, h, self.weight) / degrees + linear(own, self.self_weight) + self.bias


class GATConvolution(nn.Module):
    """Σ_j α_ij·h_j·W over N(i)∪{i}: one head, no bias, no dropout on α."""

    def __init__(self, in_features: int, out_features: int, generator: torch.Generator | None):
        super().__init__()
        self.weight = glorot(in_features, out_features, generator)
        self.source = glorot(1, out_features, generator)
        self.target = glorot(1, out_features, generator)

    def forward(self, h: Hidden, operators: GraphOperators) -> Tensor:
        z, near = linear(h, self.weight), operators.neighbourhood
        return attend(near, z, z @ self.source.t(), z[: near.shape[0]] @ self.target.t())


def _propagated(matrix: SparseMatrix, h: Hidden, weight: Tensor) -> Tensor:
    """P·H·W, from the left where P has fewer rows than columns, unless H are the features."""
    if isinstance(h, Tensor) and matrix.shape[0] < matrix.shape[1]:
        return propagate(matrix, h) @ weight
    return propagate(matrix, linear(h, weight))


def _norm(name: str | None, width: int) -> nn.Module:
    return nn.Identity() if name is None else nn.LayerNorm(width) if name == "layer" else nn.BatchNorm1d(width)
