"""Meta-PN: how far labels are propagated is learnt, by what a step on the propagated labels does to the given ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ncgc.models.baselines.pta import PTANetwork, first_decays
from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.networks import fan_in_bias
from ncgc.nn.weights import fan_in
from ncgc.ops import FeatureMatrix, SparseMatrix, linear
from ncgc.params.parameter import declared
from ncgc.training import Adam, StoppingRule, TrainingResult, Watcher
from ncgc.training.engines.full_batch import train_full_batch


class MetaPN(NetworkClassifier, dropout=0.0, learning_rate=0.1, weight_decay=5e-3, epochs=500):
    """ỹ_i = Σ_k a_ik·(ÂᵏY⁰)_i + Y⁰_i with a_i = softmax_k(uᵀ·ReLU(V·(ÂᵏY⁰)_i + c)), the labels an MLP is trained on (Ding et al., 2022).

    For every batch B of nodes: θ' = θ − η·∇L_B(θ, ỹ) is a step of the MLP not taken; V, c and u go down the cross-entropy
    that θ' gives the training nodes outside B; then the MLP takes a step on the new ỹ. L_B = −(w/K)·Σ_B ỹ·log p. The classes
    are those of K steps of personalised PageRank on p.

    The authors' step not taken is one of Adam, which also moves the true averages of Adam, and its effect on V, c and u is by
    differences; ours is a plain gradient step and exact. The batches are random and at least two. Their validation loss
    compares all nodes with propagated validation labels; ours is that of the predictions on the validation nodes.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> MetaPN(epochs=5).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "Meta-PN"
    paper = "Ding et al., AAAI 2022"
    family = "pseudo-labels"
    cost = "three passes of an MLP an epoch, no product with Â in them"
    keep = "ranked"
    keep_options: ClassVar[dict[str, Any]] = {"either": True}

    alpha: float = declared(0.1, "chance to return to the start, of the predictions", low=0, high=1)
    steps: int = declared(10, "K: propagation steps, of labels and of predictions", low=1)
    loss_weight: float = declared(0.05, "w: of the loss against the L2 penalty", low=0, open_low=True)
    batch_size: int = declared(1024, "most nodes in a batch", low=1)
    meta_learning_rate: float = declared(5e-4, "step size of Adam for the propagation", low=0, open_low=True)

    def network(self, data: TrainingData) -> nn.Module:
        return PTANetwork(data, self.hidden, self.dropout, self.alpha, self.steps)

    def groups(self, network: nn.Module) -> list[dict[str, Any]]:
        return first_decays(network, self.weight_decay)

    def train(
        self, data: TrainingData, network: nn.Module, stopping: StoppingRule, watch: Watcher | None
    ) -> TrainingResult:
        propagator = Propagator(data, self.steps)
        optimizer = Adam(self.groups(network), lr=self.learning_rate, fused=True)
        meta = Adam(propagator.parameters(), lr=self.meta_learning_rate, fused=True)
        batches = [Batch(data, nodes, self.rows) for nodes in _parts(data, self.batch_size)]

        def step(batch: Batch) -> Tensor:
            """The loss of the MLP on a batch, after the step of the propagation."""
            if len(batch.gold_labels):
                meta.zero_grad(set_to_none=True)
                self.meta_loss(network, batch, propagator).backward()
                meta.step()
            logits = self.passed(network, batch.features, data.drops)
            return self.soft_loss(logits, propagator(batch.nodes).detach())

        def loss(epoch: int) -> Tensor:
            order = torch.randperm(len(batches), generator=data.drops).tolist()
            for place in order[:-1]:
                optimizer.zero_grad(set_to_none=True)
                step(batches[place]).backward()
                optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            return step(batches[order[-1]])  # whose step the descent takes

        def evaluate() -> Tensor:
            logits: Tensor = network(data.operators, None).logits
            return logits

        return train_full_batch(network, optimizer, loss, evaluate, stopping, self.epochs, watch)

    def soft_loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """L_B, the cross-entropy on a batch with soft targets.

        Args:
            logits: (b, K).
            targets: ỹ, (b, K).

        Returns:
            A scalar.
        """
        return -self.loss_weight / logits.shape[1] * (targets * logits.log_softmax(dim=1)).sum()

    def rows(self, data: TrainingData, nodes: Tensor) -> Any:
        """The features of some nodes.

        Args:
            data: what to train on.
            nodes: (b,) numbers.

        Returns:
            (b, D).
        """
        return FeatureMatrix(data.graph.features[nodes.numpy()], dtype=data.operators.dtype)

    def passed(self, network: nn.Module, features: Any, drops: torch.Generator) -> Tensor:
        """The MLP's logits on a batch, with dropout.

        Args:
            network: in training mode.
            features: (b, D) of :meth:`rows`.
            drops: generator of the dropout.

        Returns:
            (b, K) logits.
        """
        assert isinstance(network, PTANetwork)
        return network.layers(features.dropout(self.dropout, drops, network.training), drops).logits

    def meta_loss(self, network: nn.Module, batch: Batch, propagator: Propagator) -> Tensor:
        """A scalar whose gradient by the propagator's weights is that of the cross-entropy of θ' on the gold nodes.

        Args:
            network: with the weights θ; θ' is one step from there.
            batch: its nodes and its gold nodes.
            propagator: makes the targets ỹ.

        Returns:
            A scalar; only its gradient has a meaning.
        """
        assert isinstance(network, PTANetwork)
        slopes = self._slopes(network, batch, propagator(batch.nodes).detach())
        total: Tensor = (propagator(batch.nodes) * slopes).sum()
        return total

    def _slopes(self, network: PTANetwork, batch: Batch, targets: Tensor) -> Tensor:
        """(b, K) how the cross-entropy of θ' on the gold nodes grows with each entry of the targets of the batch.

        L_B is linear in ỹ, so the derivative of θ' by ỹ_ic is η·(w/K)·∇_θ log p_ic: the slope of log p along the gradient
        at θ', which one pass forwards gives for all i and c.
        """
        names = ("first", "first_bias", "second", "second_bias")
        weights = [network.get_parameter(name).detach().requires_grad_() for name in names]
        found = torch.autograd.grad(self.soft_loss(_logits(batch.features, weights), targets), weights)
        moved = [
            (weight.detach() - self.learning_rate * gradient).requires_grad_()
            for weight, gradient in zip(weights, found, strict=True)
        ]
        gold = cross_entropy(_logits(batch.gold, moved), batch.gold_labels)
        direction = torch.autograd.grad(gold, moved)
        return self.learning_rate * self.loss_weight / targets.shape[1] * slopes(batch.features, weights, direction)


class Propagator(nn.Module):
    """The learnt mixture of propagated labels."""

    def __init__(self, data: TrainingData, steps: int):
        super().__init__()
        classes = data.num_classes
        self.inner, self.inner_bias = (
            fan_in(classes, classes, data.weights),
            fan_in_bias(classes, classes, data.weights),
        )
        self.outer = fan_in(classes, 1, data.weights)
        self.start, self.steps = powers(data.operators.gcn, data.train, data.labels, classes, steps)

    def forward(self, nodes: Tensor) -> Tensor:
        """The soft targets ỹ of some nodes.

        Args:
            nodes: (b,) numbers.

        Returns:
            (b, K).
        """
        y = self.steps[nodes]
        scores = torch.relu(y @ self.inner + self.inner_bias) @ self.outer
        mixed: Tensor = (scores.softmax(dim=1) * y).sum(dim=1) + self.start[nodes]
        return mixed


class Batch:
    """Some nodes with their features, and the training nodes that are not among them, the gold ones, with theirs."""

    def __init__(self, data: TrainingData, nodes: Tensor, rows: Callable[[TrainingData, Tensor], Any]):
        self.nodes = nodes
        self.features = rows(data, nodes)
        outside = ~torch.isin(data.train, nodes)
        self.gold, self.gold_labels = rows(data, data.train[outside]), data.labels[outside]


def powers(matrix: SparseMatrix, nodes: Tensor, labels: Tensor, classes: int, steps: int) -> tuple[Tensor, Tensor]:
    """One-hot labels Y⁰ and their propagations Âᵏ·Y⁰.

    Args:
        matrix: Â, n×n.
        nodes: (l,) labelled nodes.
        labels: (l,) their classes.
        classes: number K of classes.
        steps: number of propagations.

    Returns:
        Y⁰, (n, K), and (n, steps, K) with Âᵏ·Y⁰ for k = 1, 2, …
    """
    start = torch.zeros(matrix.shape[0], classes, dtype=matrix.values.dtype)
    start[nodes, labels] = 1.0
    found = [start]
    for _ in range(steps):
        found.append(matrix.csr @ found[-1])
    return start, torch.stack(found[1:], dim=1)


def _logits(features: FeatureMatrix, weights: Sequence[Tensor]) -> Tensor:
    first, first_bias, second, second_bias = weights
    return torch.relu(linear(features, first) + first_bias) @ second + second_bias


@torch.no_grad()
def slopes(features: FeatureMatrix, weights: Sequence[Tensor], direction: Sequence[Tensor]) -> Tensor:
    """Directional derivative d/dε log softmax(MLP(X; θ + ε·v)) at ε = 0.

    Args:
        features: X, (b, D).
        weights: θ = W₀, b₀, W₁, b₁.
        direction: v, of the same shapes.

    Returns:
        (b, K).
    """
    first, first_bias, second, second_bias = weights
    by_first, by_first_bias, by_second, by_second_bias = direction
    z = linear(features, first) + first_bias
    h = torch.relu(z)
    by_h = (linear(features, by_first) + by_first_bias) * (z > 0)
    p = (h @ second + second_bias).softmax(dim=1)
    by_logits = by_h @ second + h @ by_second + by_second_bias
    return by_logits - (p * by_logits).sum(dim=1, keepdim=True)


def _parts(data: TrainingData, size: int) -> Sequence[Tensor]:
    """All nodes at random in parts of about the same size, at most ``size``; two of them at least."""
    order = torch.randperm(data.operators.num_nodes, generator=data.drops)
    number = min(max(2, int(np.ceil(len(order) / size))), len(order))
    return [part.sort().values for part in order.tensor_split(number)]
