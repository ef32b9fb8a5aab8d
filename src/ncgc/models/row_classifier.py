"""RowClassifier: the base of methods whose network sees one row of features for a node, smoothed or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.nn import GraphOperators, Output
from ncgc.ops import FeatureMatrix
from ncgc.training import Adam, StoppingRule, TrainingResult, Watcher
from ncgc.training.engines.full_batch import train_full_batch


class RowNetwork(Protocol):
    """A network that also works on some rows alone."""

    def layers(self, x: FeatureMatrix, generator: torch.Generator | None = None) -> Output:
        """The output for some rows of S·X.

        Args:
            x: (l, D) rows of S·X.
            generator: of the dropout.

        Returns:
            (l, d) hidden states and (l, K) logits.
        """

    def propagate(self, operators: GraphOperators, z: Tensor) -> Tensor:
        """S·Z for a symmetric S.

        Args:
            operators: of the graph.
            z: Z, (n, c).

        Returns:
            (n, c).
        """


class RowClassifier(NetworkClassifier):
    """A method that trains a :class:`RowNetwork` on the training rows of S·X, made once, and evaluates the validation rows.

    An epoch has no product with the graph, and its cost does not grow with the number of nodes.
    """

    def rows(self, data: TrainingData, network: RowNetwork, nodes: Tensor) -> FeatureMatrix:
        """The rows of S·X at some nodes.

        Args:
            data: what to train on.
            network: whose S smooths the features.
            nodes: (l,) numbers.

        Returns:
            (l, D).
        """
        return FeatureMatrix(
            smoothed_rows(data.operators, nodes, lambda z: network.propagate(data.operators, z)).numpy()
        )

    def evaluation_interval(self) -> None:
        """None: epochs are few and cheap, and an evaluation pass over all nodes is not."""

    def train(
        self, data: TrainingData, network: nn.Module, stopping: StoppingRule, watch: Watcher | None
    ) -> TrainingResult:
        seen = data.watched if stopping.evaluates(1) else data.watched[:0]  # the validation nodes
        on_rows = cast(RowNetwork, network)
        train, val = self.rows(data, on_rows, data.train), self.rows(data, on_rows, seen)
        optimizer = Adam(self.groups(network), lr=self.learning_rate, fused=True)

        def loss(epoch: int) -> Tensor:
            return cross_entropy(on_rows.layers(train, data.drops).logits, data.labels)

        def evaluate() -> Tensor:
            logits = torch.zeros(data.graph.num_nodes, data.num_classes)
            logits[seen] = on_rows.layers(val).logits
            return logits

        return train_full_batch(network, optimizer, loss, evaluate, stopping, self.epochs, watch)


def smoothed_rows(operators: GraphOperators, nodes: Tensor, smooth: Callable[[Tensor], Tensor]) -> Tensor:
    """The rows of S·X at some nodes, for a symmetric S.

    S·X itself is dense and may be large. Row i is Xᵀ·(S·e_i), so only the columns of S at ``nodes`` are made, a few at
    a time.

    Args:
        operators: of the graph.
        nodes: (l,) numbers.
        smooth: Z ↦ S·Z.

    Returns:
        (l, D).
    """
    rows = torch.zeros(len(nodes), operators.features.shape[1], dtype=operators.dtype)
    for begin in range(0, len(nodes), 512):
        some = nodes[begin : begin + 512]
        units = torch.zeros(operators.num_nodes, len(some), dtype=operators.dtype)
        units[some, torch.arange(len(some))] = 1.0
        rows[begin : begin + 512] = operators.features.transposed_product(smooth(units)).t()
    return rows
