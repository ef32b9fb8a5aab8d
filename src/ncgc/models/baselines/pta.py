"""PTA: propagate the labels first, then train an MLP on them, each class weighed by what the MLP believes already."""

from __future__ import annotations

import math
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from ncgc.losses import row_softmax, soft_cross_entropy
from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.networks import TwoLayerMLP
from ncgc.nn import GraphOperators, Output
from ncgc.ops import SparseMatrix, narrow_linear, personalised_pagerank, relu_dropout
from ncgc.params.parameter import declared

_LEAST = 1e-12  # a probability whose logarithm is still a number


class PTA(NetworkClassifier, dropout=0.0, learning_rate=0.1, weight_decay=5e-3, epochs=2000, patience=100):
    """p = softmax(MLP(X)), trained on Ỹ, the labels after K steps of Y ← (1−α)·clamp(Â·Y) + α·Y⁰ (Dong et al., 2021).

    Loss: −(w/K)·Σ_i Σ_c Ỹ_ic·p̄_ic^γ·log p_ic over all nodes, γ = ln(1 + t/ε) in epoch t, no gradient through p̄; L2 on W₀
    alone. The classes are those of K steps of personalised PageRank on p. The authors compare all nodes with propagated
    validation labels for the validation loss; ours is that of the predictions on the validation nodes.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> PTA(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "PTA"
    paper = "Dong et al., WWW 2021"
    family = "pseudo-labels"
    cost = "no product with Â in a step, ten of n×K in an evaluation pass"
    keep = "ranked"
    keep_options: ClassVar[dict[str, Any]] = {"either": True}

    alpha: float = declared(0.1, "chance to return to the start", low=0, high=1)
    steps: int = declared(10, "K: propagation steps, of labels and of predictions", low=0)
    ramp: float = declared(100.0, "ε: epochs in which the weights by belief grow", low=0, open_low=True)
    loss_weight: float = declared(0.05, "w: of the loss against the L2 penalty", low=0, open_low=True)

    def network(self, data: TrainingData) -> nn.Module:
        return PTANetwork(data, self.hidden, self.dropout, self.alpha, self.steps)

    def loss(self, data: TrainingData, network: nn.Module, epoch: int) -> Tensor:
        own = cast(PTANetwork, network)
        if own.targets is None:
            own.targets = propagated_labels(
                data.operators.gcn, data.train, data.labels, data.num_classes, self.alpha, self.steps
            )
        logits = network(data.operators, data.drops).logits
        gamma = math.log(1 + (epoch - 1) / self.ramp)
        targets = own.targets * row_softmax(logits.detach()).pow_(gamma)
        return self.loss_weight / data.num_classes * soft_cross_entropy(logits, targets, count=1)

    def groups(self, network: nn.Module) -> list[dict[str, Any]]:
        return first_decays(network, self.weight_decay)


class PTANetwork(TwoLayerMLP):
    """An MLP; in evaluation mode its probabilities are propagated, and the logits are their logarithms.

    Without dropout the training pass equals the evaluation pass before it, which keeps what its gradient needs.
    """

    def __init__(self, data: TrainingData, hidden: int, dropout: float, alpha: float, steps: int):
        super().__init__(data.num_features, hidden, data.num_classes, dropout, generator=data.weights)
        self.alpha, self.steps = alpha, steps
        self.targets: Tensor | None = None
        self._left: tuple[GraphOperators, list[int], Output] | None = None

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        if self.training:
            (graph, weights, output), self._left = self._left or (None, [], None), None
            same = graph is operators and weights == self._versions()
            return cast(Output, output) if same else super().forward(operators, generator)
        with torch.set_grad_enabled(self.targets is not None and self.dropout == 0.0):
            output = super().forward(operators, generator)
        if output.logits.requires_grad:
            self._left = operators, self._versions(), output
        h, z = output.embeddings.detach(), output.logits.detach()
        spread = personalised_pagerank(operators.gcn, row_softmax(z), self.alpha, self.steps)
        return Output(h, spread.clamp_min(_LEAST).log())

    def head(self, z: Tensor, generator: torch.Generator | None = None) -> Output:
        assert self.first_bias is not None
        assert self.second_bias is not None
        h = relu_dropout(z.add_(self.first_bias), self.dropout, generator, self.training)
        return Output(h, narrow_linear(h, self.second).add_(self.second_bias))

    def _versions(self) -> list[int]:
        """How often each weight was written to: the same numbers, the same weights."""
        return [weight._version for weight in self.parameters()]


def first_decays(network: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Adam's parameter groups with an L2 penalty on the parameter ``first`` alone.

    Args:
        network: with a parameter of that name.
        weight_decay: the penalty.

    Returns:
        The group that decays and the group that does not.
    """
    parameters = dict(network.named_parameters())
    first = parameters.pop("first")
    return [
        {"params": [first], "weight_decay": weight_decay},
        {"params": list(parameters.values()), "weight_decay": 0.0},
    ]


def propagated_labels(
    matrix: SparseMatrix, nodes: Tensor, labels: Tensor, classes: int, alpha: float, steps: int
) -> Tensor:
    """Propagated labels: Y ← (1−α)·clamp(Â·Y) + α·Y⁰, repeated; clamp sets the labelled nodes to their one-hot labels.

    The rows of other nodes do not sum to 1 and are not normalised: a node that labels hardly reach counts little.

    Args:
        matrix: Â, n×n.
        nodes: (l,) labelled nodes.
        labels: (l,) their classes.
        classes: number K of classes.
        alpha: α, the weight of the one-hot labels Y⁰.
        steps: number of repetitions.

    Returns:
        Y, (n, K).
    """
    start = torch.zeros(matrix.shape[0], classes, dtype=matrix.values.dtype)
    start[nodes, labels] = 1.0
    y = start
    for _ in range(steps):
        y = matrix.csr @ y
        y[nodes] = start[nodes]
        y = (1 - alpha) * y + alpha * start
    return y
