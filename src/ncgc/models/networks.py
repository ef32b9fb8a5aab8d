"""Small networks that several methods share; each is called as ``network(operators, generator)``."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.models.receptive_field import Field
from ncgc.nn import GraphOperators, Output
from ncgc.nn.weights import fan_in, glorot
from ncgc.ops import FeatureMatrix, SparseMatrix, linear, propagate, relu_dropout


class TwoLayerGCN(nn.Module):
    """Z = Â·dropout(ReLU(Â·dropout(X)·W₀ [+ b₀]))·W₁ [+ b₁]; the hidden states are the embeddings.

    Args:
        bias: Kipf and Welling's own network has none.
    """

    def __init__(
        self,
        in_features: int,
        hidden: int,
        num_classes: int,
        dropout: float,
        *,
        input_dropout: float | None = None,
        bias: bool = False,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        self.first = glorot(in_features, hidden, generator)
        self.second = glorot(hidden, num_classes, generator)
        self.first_bias = nn.Parameter(torch.zeros(hidden)) if bias else None
        self.second_bias = nn.Parameter(torch.zeros(num_classes)) if bias else None
        self.dropout, self.input_dropout = dropout, dropout if input_dropout is None else input_dropout

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        inner, outer = operators.of_layer(0).gcn, operators.of_layer(1).gcn
        return self._layers(operators.features, inner, outer, generator)

    def at(self, field: Field, generator: torch.Generator | None = None) -> Tensor:
        """Logits at the nodes of a receptive field.

        Args:
            field: of l nodes, any of which may occur twice.
            generator: of the dropout.

        Returns:
            (l, K).
        """
        return self._layers(field.features, field.inner, field.outer, generator).logits

    def _layers(
        self, x: FeatureMatrix, inner: SparseMatrix, outer: SparseMatrix, generator: torch.Generator | None
    ) -> Output:
        z = propagate(inner, linear(x.dropout(self.input_dropout, generator, self.training), self.first))
        h = relu_dropout(_plus(z, self.first_bias), self.dropout, generator, self.training)
        z = _plus(propagate(outer, h @ self.second), self.second_bias)
        return Output(h[: outer.shape[0]], z)


def _plus(x: Tensor, bias: Tensor | None) -> Tensor:
    return x if bias is None else x + bias


class TwoLayerMLP(nn.Module):
    """Z = dropout(ReLU(dropout(X)·W₀ [+ b₀]))·W₁ [+ b₁], begun as torch begins its linear maps; no graph in it.

    The hidden states are the embeddings.
    """

    def __init__(
        self,
        in_features: int,
        hidden: int,
        num_classes: int,
        dropout: float,
        *,
        bias: bool = True,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        self.first = fan_in(in_features, hidden, generator)
        self.second = fan_in(hidden, num_classes, generator)
        self.first_bias = fan_in_bias(in_features, hidden, generator) if bias else None
        self.second_bias = fan_in_bias(hidden, num_classes, generator) if bias else None
        self.dropout = dropout

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        return self.layers(operators.features, generator)

    def layers(self, x: FeatureMatrix, generator: torch.Generator | None = None) -> Output:
        """Both layers on any rows of features.

        Args:
            x: (l, D).
            generator: of the dropout.

        Returns:
            (l, d) hidden states and (l, K) logits.
        """
        return self.head(linear(x.dropout(self.dropout, generator, self.training), self.first), generator)

    def head(self, z: Tensor, generator: torch.Generator | None = None) -> Output:
        """All that follows the first product X·W₀.

        Args:
            z: X·W₀, (l, d).
            generator: of the dropout.

        Returns:
            (l, d) hidden states and (l, K) logits.
        """
        h = relu_dropout(_plus(z, self.first_bias), self.dropout, generator, self.training)
        return Output(h, _plus(h @ self.second, self.second_bias))


def fan_in_bias(rows: int, columns: int, generator: torch.Generator | None) -> nn.Parameter:
    """A bias drawn uniformly from ±1/√rows, as torch begins the bias of a linear map.

    Args:
        rows: width of the input.
        columns: width of the output.
        generator: of the draw.

    Returns:
        (columns,).
    """
    bound = max(rows, 1) ** -0.5
    return nn.Parameter(torch.empty(columns).uniform_(-bound, bound, generator=generator))
