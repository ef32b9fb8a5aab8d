"""GCNII: a deep GCN by initial residual and identity map."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.networks import fan_in_bias
from ncgc.nn import GraphOperators, Output
from ncgc.nn.weights import fan_in
from ncgc.ops import SparseMatrix, dropout, keep_factors, kept_scale, linear, random_bytes
from ncgc.params.parameter import declared


class GCNII(NetworkClassifier, dropout=0.6, weight_decay=0.01, epochs=1500):
    """H₀ = ReLU(X·W_in + b), M = (1−α)·Â·H_{l−1} + α·H₀, H_l = ReLU(θ_l·M·W_l + (1−θ_l)·M), θ_l = log(λ/l + 1).

    Chen et al., 2020: dropout on X and before every layer, a linear map of H_L at the end, one L2 weight for the W_l and one
    for the two linear maps, the epoch of lowest validation loss.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> GCNII(epochs=3, num_layers=8).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GCNII"
    paper = "Chen et al., ICML 2020"
    family = "deep"
    cost = "64 products with Â an epoch"

    num_layers: int = declared(64, "number of propagation layers (L)", low=1)
    alpha: float = declared(0.1, "share of H₀ in every layer", low=0, high=1)
    theta: float = declared(0.5, "strength of the weights, decaying with depth (λ)", low=0)
    dense_decay: float = declared(5e-4, "L2 penalty of the two linear maps", low=0)

    def network(self, data: TrainingData) -> nn.Module:
        return GCNIINetwork(data, self.hidden, self.dropout, self.num_layers, self.alpha, self.theta)

    def groups(self, network: nn.Module) -> list[dict[str, Any]]:
        parameters = dict(network.named_parameters())
        layers = parameters.pop("layers")
        return [
            {"params": [layers], "weight_decay": self.weight_decay},
            {"params": list(parameters.values()), "weight_decay": self.dense_decay},
        ]


class GCNIINetwork(nn.Module):
    """A linear map in, L layers of one width, a linear map out; H_L is the embeddings."""

    def __init__(self, data: TrainingData, hidden: int, dropout: float, num_layers: int, alpha: float, theta: float):
        super().__init__()
        self.entry = fan_in(data.num_features, hidden, data.weights)
        self.entry_bias = fan_in_bias(data.num_features, hidden, data.weights)
        self.layers = nn.Parameter(  # (L, d, d), all W_l
            torch.stack([fan_in(hidden, hidden, data.weights).data for _ in range(num_layers)])
        )
        self.classes = fan_in(hidden, data.num_classes, data.weights)
        self.classes_bias = fan_in_bias(hidden, data.num_classes, data.weights)
        self.dropout, self.alpha, self.theta = dropout, alpha, theta

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        features = operators.features.dropout(self.dropout, generator, self.training)
        start = torch.relu(linear(features, self.entry) + self.entry_bias)
        h = dropout(start, self.dropout, generator, self.training)
        h = residual_layers(
            operators.gcn,
            h,
            start,
            self.layers,
            self.alpha,
            self.theta,
            self.dropout if self.training else 0.0,
            generator,
        )
        return Output(h, torch.addmm(self.classes_bias, h, self.classes))


class _ResidualLayers(torch.autograd.Function):
    """All layers as one: M_l and H_l are kept for the gradient, and nothing between them."""

    @staticmethod
    def forward(
        ctx: Any,
        matrix: SparseMatrix,
        h: Tensor,
        start: Tensor,
        weights: Tensor,
        alpha: float,
        theta: float,
        p: float,
        generator: torch.Generator | None,
    ) -> Tensor:
        keep_all = any(ctx.needs_input_grad)
        maps, returned = _maps(weights, theta), start * alpha
        mixed, outputs = [], []
        for layer in maps:
            m = torch.addmm(returned, matrix.csr, h, alpha=1.0 - alpha)
            h = (m @ layer).relu_()
            if p > 0.0:
                h.mul_(keep_factors(random_bytes(h.shape, generator), p, h.dtype))
            if keep_all:
                mixed.append(m)
                outputs.append(h)
        ctx.save_for_backward(maps, *mixed, *outputs)
        ctx.matrix, ctx.alpha, ctx.theta = matrix, alpha, theta
        ctx.scale = kept_scale(p)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        maps, *saved = ctx.saved_tensors
        count = len(maps)
        u, d_maps, d_returned = gradients[0], torch.empty_like(maps), torch.zeros_like(gradients[0])
        for i in range(count - 1, -1, -1):
            m, output = saved[i], saved[count + i]
            # an entry is positive exactly where the ReLU was open and the entry kept
            u = torch.ops.aten.threshold_backward(u, output, 0)
            if ctx.scale != 1.0:
                u.mul_(ctx.scale)
            torch.mm(m.t(), u, out=d_maps[i])
            d_m = u @ maps[i].t()
            d_returned += d_m
            u = torch.addmm(d_m, ctx.matrix.transposed, d_m, beta=0.0, alpha=1.0 - ctx.alpha)
        for i in range(count):
            d_maps[i] *= _strength(ctx.theta, i + 1)
        return None, u, d_returned.mul_(ctx.alpha), d_maps, None, None, None, None


def _strength(theta: float, layer: int) -> float:
    return math.log(theta / layer + 1.0)


def _maps(weights: Tensor, theta: float) -> Tensor:
    """(L, d, d) θ_l·W_l + (1−θ_l)·I, so that a layer is one product."""
    strengths = torch.tensor([_strength(theta, i + 1) for i in range(len(weights))], dtype=weights.dtype)
    maps = weights * strengths.view(-1, 1, 1)
    maps.diagonal(dim1=1, dim2=2).add_(1.0 - strengths.view(-1, 1))
    return maps


def residual_layers(
    matrix: SparseMatrix,
    h: Tensor,
    start: Tensor,
    weights: Tensor,
    alpha: float = 0.1,
    theta: float = 0.5,
    p: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """GCNII's layers: H ← dropout(ReLU(θ_l·M·W_l + (1−θ_l)·M)) with M = (1−α)·Â·H + α·H₀, for l = 1 … L.

    Args:
        matrix: Â, n×n, constant.
        h: (n, d) what the first layer propagates: H₀, dropped.
        start: H₀ (n, d).
        weights: W (L, d, d).
        alpha: α, the weight of the initial residual H₀.
        theta: θ, from which θ_l = log(θ/l + 1).
        p: dropout on every layer's output; the caller passes 0 outside training.
        generator: of the dropout.

    Returns:
        (n, d) output of the last layer.
    """
    result: Tensor = _ResidualLayers.apply(matrix, h, start, weights, alpha, theta, p, generator)
    return result
