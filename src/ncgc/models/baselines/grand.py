"""GRAND: several random propagations of the features an epoch, and a penalty where the network disagrees on them."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import cross_entropy

from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.nn import GraphOperators, Output
from ncgc.ops import SparseMatrix, dropout, keep_mask, linear, relu_dropout
from ncgc.params.parameter import declared

_BLOCK = 64  # columns propagated at a time: a block of them stays in the cache over all steps


class GRAND(NetworkClassifier, hidden=32, epochs=5000, patience=200):
    """p_s = softmax(MLP(X̄_s)), X̄_s = (1/(K+1))·Σ_k Âᵏ·M_s·X for S draws of M_s, which zeroes whole rows of X (Feng et al., 2020).

    Loss: mean_s CE(p_s) + λ·mean_s mean_i ‖p_si − p'_i‖², with p' ∝ (mean_s p_s)^(1/T) and no gradient through p'. The
    labels are predicted from (1−δ)·X. The authors' code draws first weights around −1/√out and not around 0 (``shifted``):
    their figures rest on it; on the digits, with many entries in a row, it did not learn (chance accuracy).

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> GRAND(epochs=5, order=2).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GRAND"
    paper = "Feng et al., NeurIPS 2020"
    family = "augmentation"
    cost = "S·K products of Â and n×hidden an epoch, n×D with input dropout"
    keep = "loss"
    keep_options: ClassVar[dict[str, Any]] = {"either": True}

    views: int = declared(4, "S: random propagations an epoch", low=1)
    order: int = declared(8, "K: steps of propagation", low=0)
    node_dropout: float = declared(0.5, "δ: chance of a row of X to be zero", low=0, high=1, open_high=True)
    input_dropout: float = declared(0.5, "dropout of the propagated features", low=0, high=1, open_high=True)
    temperature: float = declared(0.5, "T: the lower, the sharper the common target", low=0, open_low=True)
    consistency: float = declared(1.0, "λ: weight of the disagreement of the views", low=0)
    batch_norm: bool = declared(False, "batch normalisation of the propagated features and the hidden states")
    shifted: bool = declared(False, "draw first weights around −1/√out, as the authors' code does")

    def network(self, data: TrainingData) -> nn.Module:
        return RandomPropagation(
            data.num_features,
            self.hidden,
            data.num_classes,
            order=self.order,
            node_dropout=self.node_dropout,
            input_dropout=self.input_dropout,
            dropout=self.dropout,
            batch_norm=self.batch_norm,
            shifted=self.shifted,
            generator=data.weights,
        )

    def loss(self, data: TrainingData, network: nn.Module, epoch: int) -> dict[str, Tensor]:
        assert isinstance(network, RandomPropagation)
        views = network.views(data.operators, data.drops, self.views)
        found = torch.stack([cross_entropy(logits[data.train], data.labels) for logits in views]).mean()
        disagreement = consistency(torch.stack(views).softmax(dim=2), self.temperature)
        return {"class": found, "consistency": self.consistency * disagreement}


def consistency(views: Tensor, temperature: float) -> Tensor:
    """Consistency loss mean_s mean_i ‖p_si − p'_i‖², with p' ∝ (mean_s p_s)^(1/T) without a gradient.

    Args:
        views: p, (S, n, K) probabilities of S random propagations.
        temperature: T; the lower, the sharper the targets p'.

    Returns:
        A scalar.

    >>> consistency(torch.tensor([[[0.8, 0.2]], [[0.6, 0.4]]]), 1.0).round(decimals=4)
    tensor(0.0200)
    """
    target = sharpened(views.detach().mean(dim=0), temperature)
    return (views - target).square().sum(dim=2).mean()


def sharpened(probabilities: Tensor, temperature: float) -> Tensor:
    """p^(1/T), each row divided by its sum; computed by logarithms, since a power of a small number may be zero.

    Args:
        probabilities: p, (n, K).
        temperature: T, above 0; below 1 it sharpens.

    Returns:
        (n, K), rows sum to 1.

    >>> sharpened(torch.tensor([[0.75, 0.25]]), 0.5)
    tensor([[0.9000, 0.1000]])
    """
    return (probabilities.log() / temperature).softmax(dim=1)


class RandomPropagation(nn.Module):
    """An MLP of one hidden layer on randomly propagated features; in evaluation mode on their mean.

    X̄·W = (1/(K+1))·Σ_k Âᵏ·(M·(X·W)): where nothing acts on X̄ in between, n×hidden numbers are propagated and not n×D.
    """

    def __init__(
        self,
        in_features: int,
        hidden: int,
        num_classes: int,
        *,
        order: int,
        node_dropout: float,
        input_dropout: float,
        dropout: float,
        batch_norm: bool = False,
        shifted: bool = False,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        self.first, self.first_bias = _affine(in_features, hidden, shifted, generator)
        self.second, self.second_bias = _affine(hidden, num_classes, shifted, generator)
        self.order, self.node_dropout = order, node_dropout
        self.input_dropout, self.dropout = input_dropout, dropout
        self.input_norm = nn.BatchNorm1d(in_features) if batch_norm else None
        self.hidden_norm = nn.BatchNorm1d(hidden) if batch_norm else None
        self._blocks: tuple[GraphOperators, list[Tensor]] | None = None
        self._mean: tuple[GraphOperators, Tensor] | None = None

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        if self.training:
            return self._rest(self._inputs(operators, generator, 1)[0], generator)
        if self.input_norm is None and self.input_dropout == 0:
            x = self._spread(operators.gcn, linear(operators.features, self.first)) * (1 - self.node_dropout)
        else:
            x = self._normalised(self._expected(operators)) @ self.first
        return self._rest(x, None)

    def views(self, operators: GraphOperators, generator: torch.Generator, count: int) -> list[Tensor]:
        """Logits of several random propagations.

        Args:
            operators: of the graph.
            generator: of the dropout.
            count: number of propagations.

        Returns:
            (n, K) logits of each.
        """
        return [self._rest(x, generator).logits for x in self._inputs(operators, generator, count)]

    def _inputs(self, operators: GraphOperators, generator: torch.Generator | None, count: int) -> list[Tensor]:
        """dropout(norm(X̄_s))·W₀ (n×hidden) for ``count`` draws."""
        masks, _ = keep_mask((operators.num_nodes, count), self.node_dropout, generator)
        kept = masks.to(operators.dtype)
        if self.input_norm is None and self.input_dropout == 0:
            x = linear(operators.features, self.first)
            wide = torch.cat([x * kept[:, [view]] for view in range(count)], dim=1)
            return list(self._spread(operators.gcn, wide).split(x.shape[1], dim=1))
        return [self._input(operators, kept[:, [view]], generator) for view in range(count)]

    def _input(self, operators: GraphOperators, kept: Tensor, generator: torch.Generator | None) -> Tensor:
        spread = torch.cat([self._spread(operators.gcn, kept * block) for block in self._columns(operators)], dim=1)
        return dropout(self._normalised(spread), self.input_dropout, generator) @ self.first

    def _rest(self, x: Tensor, generator: torch.Generator | None) -> Output:
        x = x + self.first_bias
        if self.hidden_norm is None:
            h = relu_dropout(x, self.dropout, generator, self.training)
        else:
            h = dropout(self.hidden_norm(torch.relu(x)), self.dropout, generator, self.training)
        return Output(h, h @ self.second + self.second_bias)

    def _spread(self, matrix: SparseMatrix, start: Tensor) -> Tensor:
        result: Tensor = _MeanOfPowers.apply(matrix, start, self.order)
        return result

    def _normalised(self, x: Tensor) -> Tensor:
        result: Tensor = x if self.input_norm is None else self.input_norm(x)
        return result

    def _columns(self, operators: GraphOperators) -> list[Tensor]:
        """X in blocks of a few columns, dense."""
        if self._blocks is None or self._blocks[0] is not operators:
            blocks = [block.contiguous() for block in operators.features.to_dense().split(_BLOCK, dim=1)]
            self._blocks = operators, blocks
        return self._blocks[1]

    def _expected(self, operators: GraphOperators) -> Tensor:
        """(1−δ)·(1/(K+1))·Σ_k Âᵏ·X, made once a graph."""
        if self._mean is None or self._mean[0] is not operators:
            blocks = [self._spread(operators.gcn, block) for block in self._columns(operators)]
            self._mean = operators, torch.cat(blocks, dim=1).mul_(1 - self.node_dropout)
        return self._mean[1]


class _MeanOfPowers(torch.autograd.Function):
    """(1/(K+1))·Σ_k Âᵏ·H by Horner's rule; the gradient is the same polynomial in Âᵀ."""

    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor, order: int) -> Tensor:
        ctx.matrix, ctx.order = matrix, order
        return _mean_of_powers(matrix.csr, dense, order)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, None]:
        return None, _mean_of_powers(ctx.matrix.transposed, gradients[0], ctx.order), None


def _mean_of_powers(csr: Tensor, start: Tensor, order: int) -> Tensor:
    start = start / (order + 1)
    h = start
    for _ in range(order):
        h = torch.addmm(start, csr, h)
    return h


def _affine(
    rows: int, columns: int, shifted: bool, generator: torch.Generator | None
) -> tuple[nn.Parameter, nn.Parameter]:
    """(rows, columns) weights and a (columns,) bias from N(0, s²), or N(−s, s²) if ``shifted``, with s = 1/√columns."""
    deviation = 1 / math.sqrt(columns)
    mean = -deviation if shifted else 0.0
    weight, bias = (
        nn.Parameter(torch.empty(shape).normal_(mean, deviation, generator=generator))
        for shape in ((rows, columns), (columns,))
    )
    return weight, bias
