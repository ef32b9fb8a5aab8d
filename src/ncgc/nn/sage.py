"""GraphSAGE (Hamilton et al., 2017), mean aggregation, with the soft orthogonal term."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.nn.layers import Hidden, Layer, Pass, fan_in
from ncgc.ops import FeatureMatrix, first_rows, soft_orthogonal_layer


class SAGELayer(Layer):
    """Z = H·W_neigh, out = mean over neighbours of Z − β·Z̃Z̃ᵀZ + b + H·W_self. At β = 0 this is PyG's ``SAGEConv``."""

    def __init__(self, in_features: int, out_features: int, beta: float, generator: torch.Generator | None = None):
        super().__init__(in_features, out_features, beta)
        self.weight = fan_in(in_features, out_features, generator)
        self.self_weight = fan_in(in_features, out_features, generator)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, h: Hidden, walk: Pass) -> Tensor:
        out = soft_orthogonal_layer(h, self.weight, walk.operators.mean, self.beta, self.bias, walk.reduction)
        h = first_rows(h, len(out))
        if isinstance(h, FeatureMatrix):
            return out + h.linear(self.self_weight)
        return torch.addmm(out, h, self.self_weight)
