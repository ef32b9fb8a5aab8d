"""Decoupled: the base of methods that classify by an MLP and propagate its outputs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ncgc.models.network_classifier import NetworkClassifier
from ncgc.models.networks import TwoLayerMLP
from ncgc.nn import GraphOperators, Output


class DecoupledNetwork(TwoLayerMLP):
    """Z = P(MLP(X)) with one hook, the propagation P of n×K scores."""

    def propagate(self, operators: GraphOperators, z: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """P(Z), the propagation of the scores.

        Args:
            operators: of the graph.
            z: Z, (n, c).
            generator: of the dropout.

        Returns:
            (n, c).
        """
        raise TypeError(f"{type(self).__name__} must define propagate(operators, z, generator).")

    def embed(self, operators: GraphOperators, local: Output) -> Tensor:
        """The hidden states, propagated as the scores are; computed once, after training.

        Args:
            operators: of the graph.
            local: output of the MLP, before propagation.

        Returns:
            (n, d).
        """
        return self.propagate(operators, local.embeddings)

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        h, z = super().forward(operators, generator)
        return Output(h, self.propagate(operators, z, generator))


class Decoupled(NetworkClassifier):
    """A method whose network is a :class:`DecoupledNetwork`; its embeddings know the graph."""

    def infer(self, network: nn.Module, operators: GraphOperators) -> Output:
        assert isinstance(network, DecoupledNetwork)
        local = TwoLayerMLP.forward(network, operators)
        return Output(network.embed(operators, local), network.propagate(operators, local.logits))
