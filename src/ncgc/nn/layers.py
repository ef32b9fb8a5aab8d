"""What every layer is handed and how its weights begin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ncgc.nn.graph_operators import GraphOperators
from ncgc.ops import ALONE, Draws, FeatureMatrix, Reduction, linear

Hidden = Tensor | FeatureMatrix


@dataclass
class Pass:
    """One walk through the network: the graph, whether to drop, where randomness comes from, H⁰ for GCNII, how sums over
    nodes become whole."""

    operators: GraphOperators
    training: bool = False
    generator: Draws | None = None
    initial: Tensor | None = None
    reduction: Reduction = ALONE


class Layer(nn.Module):
    """A soft orthogonal layer without its activation: H → P(Z) − β·Z̃Z̃ᵀZ (n×out_features)."""

    def __init__(self, in_features: int, out_features: int, beta: float):
        super().__init__()
        self.in_features, self.out_features, self.beta = in_features, out_features, beta

    def forward(self, h: Hidden, walk: Pass) -> Tensor:
        """The layer's output before the activation, n×out_features."""
        raise TypeError(f"{type(self).__name__} must define forward(h, walk).")

    def transformed(self, h: Hidden) -> Tensor:
        """Z (n×out_features), what is propagated and kept orthogonal: H·W unless a layer says otherwise."""
        weight = self.weight
        assert isinstance(weight, Tensor)
        return linear(h, weight)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, beta={self.beta}"


def glorot(rows: int, columns: int, generator: torch.Generator | None) -> nn.Parameter:
    """(rows, columns) uniform in ±√(6/(rows+columns)), as PyG begins its convolutions."""
    return _uniform((rows, columns), math.sqrt(6.0 / max(rows + columns, 1)), generator)


def fan_in(rows: int, columns: int, generator: torch.Generator | None) -> nn.Parameter:
    """(rows, columns) uniform in ±1/√rows, as torch begins a linear map."""
    return _uniform((rows, columns), 1.0 / math.sqrt(max(rows, 1)), generator)


def _uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator | None) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))
