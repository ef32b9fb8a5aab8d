"""GCNII (Chen et al., 2020), initial residual and identity map, with the soft orthogonal term."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ncgc.nn.layers import Hidden, Layer, Pass, glorot
from ncgc.ops import propagate_soft_orthogonal


class GCNIILayer(Layer):
    """support = (1−α)(Â·H − β·H̃H̃ᵀH) + α·H⁰, out = (1−θ)·support + θ·support·W, θ_l = log(λ/l + 1).

    At β = 0 this is PyG's ``GCN2Conv``. The factor 1−α is taken into Â and β, so that the sum needs one buffer.
    """

    def __init__(
        self,
        features: int,
        beta: float,
        layer: int,
        alpha: float = 0.1,
        theta: float = 0.5,
        generator: torch.Generator | None = None,
    ):
        super().__init__(features, features, beta)
        self.alpha = alpha
        self.theta = math.log(theta / layer + 1.0)
        self.weight = glorot(features, features, generator)

    def transformed(self, h: Hidden) -> Tensor:
        assert isinstance(h, Tensor)
        return h

    def forward(self, h: Hidden, walk: Pass) -> Tensor:
        assert isinstance(h, Tensor)
        assert walk.initial is not None
        keep = 1.0 - self.alpha
        support = propagate_soft_orthogonal(
            walk.operators.scaled_gcn(keep), h, keep * self.beta, reduction=walk.reduction
        )
        support = torch.add(support, walk.initial, alpha=self.alpha)
        return torch.addmm(support, support, self.weight, beta=1.0 - self.theta, alpha=self.theta)
