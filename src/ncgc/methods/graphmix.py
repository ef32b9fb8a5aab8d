"""GraphMix: a GCN and an MLP with the same weights take turns; the MLP learns from mixed nodes."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, one_hot

from ncgc.methods.declared import declared
from ncgc.methods.grand import sharpened
from ncgc.methods.learned import Learned, Task
from ncgc.methods.networks import TwoLayerGCN
from ncgc.nn import GraphOperators
from ncgc.ops import FeatureMatrix, dropout, linear


class GraphMix(Learned, hidden=16, dropout=0.0, epochs=2000, patience=None):
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
    cost = "two products with Â in every second epoch, twenty in the others"
    keep = "latest"

    input_dropout: float = declared(0.5, "dropout of the features", low=0, high=1, open_high=True)
    mixup: float = declared(10.0, "w: weight of the mixed unlabelled nodes", low=0)
    ramp_from: int = declared(500, "epoch at which their weight begins to grow", low=0)
    ramp_to: int = declared(1000, "epoch from which it is full", low=0)
    passes: int = declared(10, "GCN passes with dropout that a target is the mean of", low=1)
    temperature: float = declared(0.1, "T: the lower, the sharper the targets", low=0, open_low=True)

    def network(self, task: Task) -> nn.Module:
        return GraphMixNetwork(
            task.num_features,
            self.hidden,
            task.num_classes,
            self.dropout,
            input_dropout=self.input_dropout,
            generator=task.weights,
        )

    def loss(self, task: Task, network: nn.Module, epoch: int) -> Tensor | dict[str, Tensor]:
        if torch.rand((), generator=task.drops) < 0.5:
            return super().loss(task, network, epoch)
        given = one_hot(task.labels, task.num_classes).to(task.operators.dtype)
        own = cast(GraphMixNetwork, network)
        parts = {"mixed": self._mixed(task, own, task.train, given)}
        others = task.unlabelled
        if len(others) and self.mixup > 0:
            targets = self._targets(task, network)
            some = others[torch.randint(len(others), (len(task.train),), generator=task.drops)]
            weight = self.mixup * ramp(epoch - 1, self.ramp_from, self.ramp_to)
            parts["mixed_unlabelled"] = weight * self._mixed(task, own, some, targets[some])
        return parts

    @torch.no_grad()
    def _targets(self, task: Task, network: nn.Module) -> Tensor:
        """(n, K) sharpened mean of the GCN's probabilities."""
        passes = [network(task.operators, task.drops).logits.softmax(dim=1) for _ in range(self.passes)]
        return sharpened(torch.stack(passes).mean(dim=0), self.temperature)

    def _mixed(self, task: Task, network: GraphMixNetwork, nodes: Tensor, targets: Tensor) -> Tensor:
        """Binary cross-entropy of the MLP on each of the nodes mixed with another of them."""
        h = network.without_graph(task.operators, nodes, task.drops)
        share = torch.rand((), generator=task.drops)
        other = torch.randperm(len(nodes), generator=task.drops)
        mixed = dropout(share * h + (1 - share) * h[other], self.dropout, task.drops)
        found = (mixed @ network.second).softmax(dim=1)
        return binary_cross_entropy(found, share * targets + (1 - share) * targets[other])


class GraphMixNetwork(TwoLayerGCN):
    """A GCN whose first layer can be had without Â."""

    def without_graph(
        self, operators: GraphOperators, nodes: Tensor, generator: torch.Generator | None = None
    ) -> Tensor:
        """(l, hidden) ReLU(dropout(X)·W₀) of the nodes."""
        features = FeatureMatrix(operators.graph.features[nodes.numpy()], dtype=operators.dtype)
        return torch.relu(linear(features.dropout(self.input_dropout, generator, self.training), self.first))


def ramp(epoch: int, start: int, end: int) -> float:
    """exp(−5·(1−r)²), r from 0 at ``start`` to 1 at ``end``.

    >>> [round(ramp(epoch, 500, 1000), 4) for epoch in (0, 500, 750, 1000)]
    [0.0067, 0.0067, 0.2865, 1.0]
    """
    r = 1.0 if end <= start else min(max((epoch - start) / (end - start), 0.0), 1.0)
    return math.exp(-5.0 * (1.0 - r) ** 2)
