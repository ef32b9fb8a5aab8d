"""The soft orthogonal layers of the five backbones, without their activation.

Each layer maps hidden states H (n×in) to P(Z) − β·Z̃Z̃ᵀZ (n×out), where Z = H·W is what the backbone propagates, P its
propagation, and Z̃ is Z with columns of unit length. At β = 0 each equals PyG's layer of the same name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ncgc.errors import ParameterError
from ncgc.nn.graph_operators import GraphOperators
from ncgc.nn.weights import fan_in, glorot
from ncgc.ops import (
    ALONE,
    FeatureMatrix,
    RandomSource,
    Reduction,
    attend,
    first_rows,
    linear,
    propagate_soft_orthogonal,
    soft_orthogonal,
    soft_orthogonal_layer,
)

Hidden = Tensor | FeatureMatrix


@dataclass
class ForwardPass:
    """Everything a layer needs in one forward pass beside its input.

    Attributes:
        operators: the graph's propagation matrices.
        training: whether dropout is applied.
        generator: source of the dropout's random numbers; torch's global one if None.
        initial: H⁰ (n×d), for GCNII.
        reduction: how sums over nodes are completed, where ``operators`` hold some of the nodes only.
    """

    operators: GraphOperators
    training: bool = False
    generator: RandomSource | None = None
    initial: Tensor | None = None
    reduction: Reduction = ALONE


class Layer(nn.Module):
    """Base of the soft orthogonal layers: H (n×in) → P(Z) − β·Z̃Z̃ᵀZ (n×out).

    Args:
        in_features: width of H.
        out_features: width of the output.
        beta: strength β of the soft orthogonal term; 0 leaves the plain backbone.
    """

    def __init__(self, in_features: int, out_features: int, beta: float):
        super().__init__()
        self.in_features, self.out_features, self.beta = in_features, out_features, beta

    def forward(self, h: Hidden, forward_pass: ForwardPass) -> Tensor:
        """The output before the activation.

        Args:
            h: H, (n, in); in the first layer the features X.
            forward_pass: graph, mode and random numbers.

        Returns:
            (n, out).
        """
        raise TypeError(f"{type(self).__name__} must define forward(h, forward_pass).")

    def transformed(self, h: Hidden) -> Tensor:
        """Z, which is propagated and kept orthogonal: H·W in every layer but GCNII's.

        Args:
            h: H, (n, in) hidden states or features.

        Returns:
            (n, out).
        """
        weight = self.weight
        assert isinstance(weight, Tensor)
        return linear(h, weight)

    def extra_repr(self) -> str:
        """Widths and β, for ``print(network)``."""
        return f"{self.in_features}, {self.out_features}, beta={self.beta}"


class GCNLayer(Layer):
    """GCN (Kipf and Welling, 2017): Z = H·W, out = Â·Z − β·Z̃Z̃ᵀZ + b. At β = 0 this is PyG's ``GCNConv``.

    Args:
        in_features: width of H.
        out_features: width of the output.
        beta: strength of the soft orthogonal term.
        generator: source of the first weights.
    """

    def __init__(self, in_features: int, out_features: int, beta: float, generator: torch.Generator | None = None):
        super().__init__(in_features, out_features, beta)
        self.weight = glorot(in_features, out_features, generator)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, h: Hidden, forward_pass: ForwardPass) -> Tensor:
        gcn, reduction = forward_pass.operators.gcn, forward_pass.reduction
        return soft_orthogonal_layer(h, self.weight, gcn, self.beta, self.bias, reduction)


class SAGELayer(Layer):
    """GraphSAGE (Hamilton et al., 2017) with mean aggregation.

    Z = H·W_neigh, out = D⁻¹A·Z − β·Z̃Z̃ᵀZ + b + H·W_self. At β = 0 this is PyG's ``SAGEConv``.

    Args:
        in_features: width of H.
        out_features: width of the output.
        beta: strength of the soft orthogonal term.
        generator: source of the first weights.
    """

    def __init__(self, in_features: int, out_features: int, beta: float, generator: torch.Generator | None = None):
        super().__init__(in_features, out_features, beta)
        self.weight = fan_in(in_features, out_features, generator)  # W_neigh
        self.self_weight = fan_in(in_features, out_features, generator)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, h: Hidden, forward_pass: ForwardPass) -> Tensor:
        mean, reduction = forward_pass.operators.mean, forward_pass.reduction
        out = soft_orthogonal_layer(h, self.weight, mean, self.beta, self.bias, reduction)
        h = first_rows(h, len(out))
        if isinstance(h, FeatureMatrix):
            return out + h.linear(self.self_weight)
        return torch.addmm(out, h, self.self_weight)


class GATLayer(Layer):
    """GAT (Veličković et al., 2018), heads concatenated: Z = H·W, out = α·Z by heads − β·Z̃Z̃ᵀZ + b.

    At β = 0 this is PyG's ``GATConv``. The attention α is that of :func:`ncgc.ops.attend`.

    Args:
        in_features: width of H.
        out_features: width of the output, over all heads.
        beta: strength of the soft orthogonal term.
        heads: number of heads; must divide ``out_features``.
        attention_dropout: dropout rate of α in training.
        generator: source of the first weights.
    """

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

    def forward(self, h: Hidden, forward_pass: ForwardPass) -> Tensor:
        z = linear(h, self.weight)
        vectors = torch.cat([torch.block_diag(*self.source), torch.block_diag(*self.target)]).t()
        # Z·a, or H·(W·a) where H is the smaller: the scores' gradient then reaches W without another n×out matrix
        small = self.in_features <= self.out_features or (isinstance(h, FeatureMatrix) and h.is_sparse)
        scores = linear(h, self.weight @ vectors) if small else z @ vectors
        source, target = scores[:, : self.heads], scores[:, self.heads :]
        return attend(
            forward_pass.operators.neighbourhood,
            z,
            source,
            target,
            p=self.attention_dropout if forward_pass.training else 0.0,
            generator=forward_pass.generator,
            beta=self.beta,
            bias=self.bias,
            reduction=forward_pass.reduction,
        )


class GCNIILayer(Layer):
    """GCNII (Chen et al., 2020), initial residual and identity map.

    support = (1−α)(Â·H − β·H̃H̃ᵀH) + α·H⁰,  out = (1−θ_l)·support + θ_l·support·W,  θ_l = log(λ/l + 1).

    At β = 0 this is PyG's ``GCN2Conv``. The factor 1−α is taken into Â and β, so that the sum needs one buffer.

    Args:
        features: width of H, of H⁰ and of the output.
        beta: strength of the soft orthogonal term.
        layer: number l of the layer, from 1.
        alpha: weight α of H⁰.
        theta: λ.
        generator: source of the first weights.
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
        """H itself (n×features): GCNII propagates before it multiplies by W."""
        assert isinstance(h, Tensor)
        return h

    def forward(self, h: Hidden, forward_pass: ForwardPass) -> Tensor:
        assert isinstance(h, Tensor)
        assert forward_pass.initial is not None
        keep = 1.0 - self.alpha
        scaled = forward_pass.operators.scaled_gcn(keep)
        support = propagate_soft_orthogonal(scaled, h, keep * self.beta, reduction=forward_pass.reduction)
        support = torch.add(support, forward_pass.initial, alpha=self.alpha)
        return torch.addmm(support, support, self.weight, beta=1.0 - self.theta, alpha=self.theta)


class MLPLayer(Layer):
    """Hidden layer of APPNP (Gasteiger et al., 2019): Z = H·W, out = Z − β·Z̃Z̃ᵀZ + b.

    P is the identity here: APPNP propagates the logits, after the last layer.

    Args:
        in_features: width of H.
        out_features: width of the output.
        beta: strength of the soft orthogonal term.
        generator: source of the first weights.
    """

    def __init__(self, in_features: int, out_features: int, beta: float, generator: torch.Generator | None = None):
        super().__init__(in_features, out_features, beta)
        self.weight = fan_in(in_features, out_features, generator)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, h: Hidden, forward_pass: ForwardPass) -> Tensor:
        z = linear(h, self.weight)
        return (z + soft_orthogonal(z, self.beta, forward_pass.reduction) if self.beta else z) + self.bias
