"""GraphMix: a GCN and an MLP with the same weights take turns; the MLP learns from mixed nodes."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, cross_entropy, one_hot

from ncgc.models.baselines.grand import sharpened
from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.networks import TwoLayerGCN
from ncgc.models.receptive_field import Field, receptive_field
from ncgc.nn import GraphOperators
from ncgc.ops import dropout, linear
from ncgc.params.parameter import declared


class GraphMix(NetworkClassifier, hidden=16, dropout=0.0, epochs=2000, patience=None):
    """Every epoch a coin decides: cross-entropy of the GCN, or manifold mixup of the MLP (Verma et al., 2021).

    The GCN is Z = Â·ReLU(Â·X·W₀)·W₁, the MLP Z = ReLU(X·W₀)·W₁, without biases. Mixup takes λ·h_i + (1−λ)·h_j for the hidden
    states of the MLP and the same of their targets, λ uniform in [0, 1]: among the training nodes, and among as many
    unlabelled nodes, whose targets are the mean of several GCN passes, sharpened. Loss: BCE_L + w(t)·BCE_U, with
    w(t) = w·exp(−5·(1−r)²) and r going from 0 to 1 in the ramp.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> GraphMix(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GraphMix"
    paper = "Verma et al., AAAI 2021"
    family = "augmentation"
    cost = "a GCN around the labels, or ten around as many other nodes, an epoch"
    keep = "latest"

    input_dropout: float = declared(0.5, "dropout of the features", low=0, high=1, open_high=True)
    mixup: float = declared(10.0, "w: weight of the mixed unlabelled nodes", low=0)
    ramp_from: int = declared(500, "epoch at which their weight begins to grow", low=0)
    ramp_to: int = declared(1000, "epoch from which it is full", low=0)
    passes: int = declared(10, "GCN passes with dropout that a target is the mean of", low=1)
    temperature: float = declared(0.1, "T: the lower, the sharper the targets", low=0, open_low=True)

    def network(self, data: TrainingData) -> nn.Module:
        return GraphMixNetwork(
            data.num_features,
            self.hidden,
            data.num_classes,
            self.dropout,
            input_dropout=self.input_dropout,
            generator=data.weights,
        )

    def loss(self, data: TrainingData, network: nn.Module, epoch: int) -> Tensor | dict[str, Tensor]:
        own = cast(GraphMixNetwork, network)
        if torch.rand((), generator=data.drops) < 0.5:
            return cross_entropy(own.at(own.labelled(data), data.drops), data.labels)
        given = one_hot(data.labels, data.num_classes).to(data.operators.dtype)
        parts = {"mixed": self._mixed(data, own, data.train, given)}
        others = data.unlabelled
        if len(others) and self.mixup > 0:
            some = others[torch.randint(len(others), (len(data.train),), generator=data.drops)]
            weight = self.mixup * ramp(epoch - 1, self.ramp_from, self.ramp_to)
            parts["mixed_unlabelled"] = weight * self._mixed(data, own, some, self._targets(data, own, some))
        return parts

    @torch.no_grad()
    def _targets(self, data: TrainingData, network: GraphMixNetwork, nodes: Tensor) -> Tensor:
        """(l, K) sharpened mean of the GCN's probabilities of some nodes, from their receptive field alone."""
        field = network.field(data.operators, nodes)
        passes = [network.at(field, data.drops).softmax(dim=1) for _ in range(self.passes)]
        return sharpened(torch.stack(passes).mean(dim=0), self.temperature)

    def _mixed(self, data: TrainingData, network: GraphMixNetwork, nodes: Tensor, targets: Tensor) -> Tensor:
        """Binary cross-entropy of the MLP on each of the nodes mixed with another of them."""
        h = network.without_graph(data.operators, nodes, data.drops)
        share = torch.rand((), generator=data.drops)
        other = torch.randperm(len(nodes), generator=data.drops)
        mixed = dropout(share * h + (1 - share) * h[other], self.dropout, data.drops)
        found = (mixed @ network.second).softmax(dim=1)
        return binary_cross_entropy(found, share * targets + (1 - share) * targets[other])


class GraphMixNetwork(TwoLayerGCN):
    """A GCN whose first layer can be had without Â."""

    _labelled: tuple[TrainingData, Field] | None = None

    def field(self, operators: GraphOperators, nodes: Tensor) -> Field:
        """The receptive field of some nodes, for :meth:`at`.

        Args:
            operators: of the graph.
            nodes: (l,) numbers.

        Returns:
            The receptive field through both layers.
        """
        return receptive_field(operators, nodes)

    def labelled(self, data: TrainingData) -> Field:
        """The receptive field of the training nodes, made once.

        Args:
            data: what to train on.

        Returns:
            The receptive field, cached for the same ``data``.
        """
        if self._labelled is None or self._labelled[0] is not data:
            self._labelled = data, self.field(data.operators, data.train)
        return self._labelled[1]

    def without_graph(
        self, operators: GraphOperators, nodes: Tensor, generator: torch.Generator | None = None
    ) -> Tensor:
        """The first layer without Â: ReLU(dropout(X)·W₀).

        Args:
            operators: of the graph.
            nodes: (l,) numbers.
            generator: of the dropout.

        Returns:
            (l, hidden).
        """
        features = operators.features.for_dropout.take(nodes)
        return torch.relu(linear(features.dropout(self.input_dropout, generator, self.training), self.first))


def ramp(epoch: int, start: int, end: int) -> float:
    """Weight of an epoch: exp(−5·(1−r)²), with r from 0 at ``start`` to 1 at ``end``.

    Args:
        epoch: counted from 0.
        start, end: epochs between which the weight grows.

    Returns:
        From exp(−5) to 1.

    >>> [round(ramp(epoch, 500, 1000), 4) for epoch in (0, 500, 750, 1000)]
    [0.0067, 0.0067, 0.2865, 1.0]
    """
    r = 1.0 if end <= start else min(max((epoch - start) / (end - start), 0.0), 1.0)
    return math.exp(-5.0 * (1.0 - r) ** 2)
