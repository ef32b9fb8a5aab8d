"""GCN (Kipf and Welling, 2017) with the soft orthogonal term."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.nn.layers import Hidden, Layer, Pass, glorot
from ncgc.ops import soft_orthogonal_layer


class GCNLayer(Layer):
    """Z = H·W, out = Â·Z − β·Z̃Z̃ᵀZ + b. At β = 0 this is PyG's ``GCNConv``."""

    def __init__(self, in_features: int, out_features: int, beta: float, generator: torch.Generator | None = None):
        super().__init__(in_features, out_features, beta)
        self.weight = glorot(in_features, out_features, generator)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, h: Hidden, walk: Pass) -> Tensor:
        return soft_orthogonal_layer(h, self.weight, walk.operators.gcn, self.beta, self.bias, walk.reduction)
