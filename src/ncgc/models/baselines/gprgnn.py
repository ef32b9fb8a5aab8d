"""GPR-GNN: predict first, then propagate with learnt weights of the steps."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ncgc.models.decoupled import Decoupled, DecoupledNetwork
from ncgc.models.network_classifier import TrainingData
from ncgc.nn import GraphOperators
from ncgc.ops import dropout, propagate
from ncgc.params.parameter import declared


class GPRGNN(Decoupled, patience=None, epochs=1000):
    """Z = Σ_{k≤K} γ_k·Âᵏ·MLP(X) with learnt γ of any sign (Chien et al., 2021), begun as γ_k = α(1−α)ᵏ, γ_K = (1−α)ᴷ.

    Dropout before both products of the MLP and on what it gives; L2 on its weights, none on γ. Kept is the epoch of lowest
    validation loss; training ends when the loss exceeds the mean of the 200 before it.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> GPRGNN(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GPR-GNN"
    paper = "Chien et al., ICLR 2021"
    family = "deep"
    cost = "ten products of Â and an n×K matrix an epoch"
    keep = "loss"
    keep_options: ClassVar[dict[str, Any]] = {"window": 200}

    alpha: float = declared(0.1, "chance to return to the start, for the first weights of the steps", low=0, high=1)
    steps: int = declared(10, "propagation steps (K)", low=0)
    propagation_dropout: float = declared(0.5, "dropout on what is propagated", low=0, high=1, open_high=True)

    def evaluation_interval(self) -> int:
        return 100

    def network(self, data: TrainingData) -> nn.Module:
        return GPRNetwork(data, self.hidden, self.dropout, self.propagation_dropout, self.alpha, self.steps)

    def groups(self, network: nn.Module) -> list[dict[str, Any]]:
        parameters = dict(network.named_parameters())
        gamma = parameters.pop("gamma")
        return [
            {"params": list(parameters.values()), "weight_decay": self.weight_decay},
            {"params": [gamma], "weight_decay": 0.0},
        ]


class GPRNetwork(DecoupledNetwork):
    """A two-layer MLP, its scores propagated by a learnt polynomial in Â."""

    def __init__(
        self, data: TrainingData, hidden: int, dropout: float, propagation_dropout: float, alpha: float, steps: int
    ):
        super().__init__(data.num_features, hidden, data.num_classes, dropout, generator=data.weights)
        self.propagation_dropout = propagation_dropout
        gamma = alpha * (1 - alpha) ** torch.arange(steps + 1.0)
        gamma[-1] = (1 - alpha) ** steps
        self.gamma = nn.Parameter(gamma)

    def propagate(self, operators: GraphOperators, z: Tensor, generator: torch.Generator | None = None) -> Tensor:
        powers = [dropout(z, self.propagation_dropout, generator, self.training)]
        for _ in range(len(self.gamma) - 1):
            powers.append(propagate(operators.gcn, powers[-1]))
        return torch.tensordot(self.gamma, torch.stack(powers), dims=1)
