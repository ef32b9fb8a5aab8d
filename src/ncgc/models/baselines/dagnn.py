"""DAGNN: predict first, then let every node weigh its neighbourhoods of all sizes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.models.decoupled import Decoupled, DecoupledNetwork
from ncgc.models.network_classifier import TrainingData
from ncgc.models.networks import fan_in_bias
from ncgc.nn import GraphOperators, Output
from ncgc.nn.weights import fan_in
from ncgc.ops import propagate
from ncgc.params.parameter import declared
from ncgc.training import KeepEpoch, StoppingRule


class DAGNN(Decoupled, dropout=0.8, weight_decay=5e-3, epochs=1000, patience=None):
    """H = MLP(X), Z_i = Σ_{k≤K} s_ik·(Âᵏ·H)_i with gates s_ik = σ((Âᵏ·H)_i·w + b) (Liu et al., 2020).

    Kept is the epoch of lowest validation loss; in the second half of the epochs training ends when the loss exceeds the
    mean of the ``window`` before it.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> DAGNN(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "DAGNN"
    paper = "Liu et al., KDD 2020"
    family = "deep"
    cost = "ten products of Â and an n×K matrix an epoch"
    keep = "loss"

    steps: int = declared(10, "propagation steps (K)", low=0)
    window: int = declared(100, "validation losses whose mean must not be exceeded", low=1)

    def network(self, data: TrainingData) -> nn.Module:
        return DAGNNNetwork(data, self.hidden, self.dropout, self.steps)

    def evaluation_interval(self) -> int:
        return self.window

    def stopping_rule(self, graph: Graph, split: Split) -> StoppingRule:
        chosen = super().stopping_rule(graph, split)
        if isinstance(chosen, KeepEpoch):
            chosen.window, chosen.window_after = self.window, self.epochs // 2
        return chosen


class DAGNNNetwork(DecoupledNetwork):
    """A two-layer MLP, its scores propagated and summed over the steps with a gate a node and step."""

    def __init__(self, data: TrainingData, hidden: int, dropout: float, steps: int):
        super().__init__(data.num_features, hidden, data.num_classes, dropout, generator=data.weights)
        self.gate = fan_in(data.num_classes, 1, data.weights)
        self.gate_bias = fan_in_bias(data.num_classes, 1, data.weights)
        self.steps = steps

    def propagate(self, operators: GraphOperators, z: Tensor, generator: torch.Generator | None = None) -> Tensor:
        powers = self.powers(operators, z)
        return (self.gates(powers) * powers).sum(dim=0)

    def powers(self, operators: GraphOperators, z: Tensor) -> Tensor:
        """All powers Âᵏ·Z, k = 0 … K.

        Args:
            operators: of the graph.
            z: Z, (n, c).

        Returns:
            (K+1, n, c).
        """
        found = [z]
        for _ in range(self.steps):
            found.append(propagate(operators.gcn, found[-1]))
        return torch.stack(found)

    def gates(self, powers: Tensor) -> Tensor:
        """The gates s_ik: how much of each step a node keeps.

        Args:
            powers: (K+1, n, c) of :meth:`powers`.

        Returns:
            (K+1, n, 1), from 0 to 1.
        """
        return torch.sigmoid(powers @ self.gate + self.gate_bias)

    def embed(self, operators: GraphOperators, local: Output) -> Tensor:
        gates = self.gates(self.powers(operators, local.logits))
        h = local.embeddings
        kept = gates[0] * h
        for gate in gates[1:]:
            h = propagate(operators.gcn, h)
            kept += gate * h
        return kept
