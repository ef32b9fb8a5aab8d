"""GAT (Veličković et al., 2018), heads concatenated, with the soft orthogonal term."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.errors import ParameterError
from ncgc.nn.layers import Hidden, Layer, Pass, glorot
from ncgc.ops import FeatureMatrix, attend, linear


class GATLayer(Layer):
    """Z = H·W, out = attention over Z, heads side by side, − β·Z̃Z̃ᵀZ + b. At β = 0 this is PyG's ``GATConv``."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        beta: float,
        heads: int = 1,
        attention_dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ):
        super().__init__(in_features, out_features, beta)
        if out_features % heads:
            raise ParameterError(
                f"The 'heads' parameter of GAT must divide the hidden width {out_features}. Got {heads} instead."
            )
        self.heads, self.attention_dropout = heads, attention_dropout
        self.weight = glorot(in_features, out_features, generator)
        self.source = glorot(heads, out_features // heads, generator)  # a_src, one row a head
        self.target = glorot(heads, out_features // heads, generator)  # a_dst
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, h: Hidden, walk: Pass) -> Tensor:
        z = linear(h, self.weight)
        vectors = torch.cat([torch.block_diag(*self.source), torch.block_diag(*self.target)]).t()
        # Z·a, or H·(W·a) where H is the smaller: the scores' gradient then reaches W without another n×out matrix
        small = self.in_features <= self.out_features or (isinstance(h, FeatureMatrix) and h.is_sparse)
        scores = linear(h, self.weight @ vectors) if small else z @ vectors
        source, target = scores[:, : self.heads], scores[:, self.heads :]
        p = self.attention_dropout if walk.training else 0.0
        return attend(
            walk.operators.neighbourhood, z, source, target, p=p, generator=walk.generator, beta=self.beta, bias=self.bias,
            reduction=walk.reduction,
        )  # fmt: skip
