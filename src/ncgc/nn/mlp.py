"""The layer of a decoupled backbone (APPNP, Gasteiger et al., 2019): no propagation here, the logits are propagated later."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.nn.layers import Hidden, Layer, Pass, fan_in
from ncgc.ops import linear, soft_orthogonal


class MLPLayer(Layer):
    """Z = H·W, out = Z − β·Z̃Z̃ᵀZ + b: P is the identity."""

    def __init__(self, in_features: int, out_features: int, beta: float, generator: torch.Generator | None = None):
        super().__init__(in_features, out_features, beta)
        self.weight = fan_in(in_features, out_features, generator)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, h: Hidden, walk: Pass) -> Tensor:
        z = linear(h, self.weight)
        return (z + soft_orthogonal(z, self.beta, walk.reduction) if self.beta else z) + self.bias
