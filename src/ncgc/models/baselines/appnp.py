"""APPNP: predict first, then propagate by personalised PageRank."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ncgc.models.decoupled import Decoupled, DecoupledNetwork
from ncgc.models.network_classifier import TrainingData
from ncgc.nn import GraphOperators
from ncgc.ops import personalised_pagerank
from ncgc.params.parameter import declared


class APPNP(Decoupled, weight_decay=5e-3, epochs=2000):
    """H = ReLU(X·W₀)·W₁, Z⁰ = H, Zᵏ⁺¹ = (1−α)·Â·Zᵏ + α·H (Gasteiger et al., 2019); no biases, L2 on W₀ alone.

    Dropout before both products and, as in the authors' PyTorch version, none on Â. Kept is the epoch of highest
    validation accuracy, of equals that of lowest loss; the authors' loss there includes the penalty, ours does not.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> APPNP(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "APPNP"
    paper = "Gasteiger et al., ICLR 2019"
    family = "deep"
    cost = "ten products of Â and an n×K matrix an epoch"
    keep = "ranked"
    keep_options: ClassVar[dict[str, Any]] = {"either": True}

    alpha: float = declared(0.1, "chance to return to the start", low=0, high=1)
    steps: int = declared(10, "propagation steps", low=0)

    def network(self, data: TrainingData) -> nn.Module:
        return APPNPNetwork(data, self.hidden, self.dropout, self.alpha, self.steps)

    def groups(self, network: nn.Module) -> list[dict[str, Any]]:
        assert isinstance(network, APPNPNetwork)
        return [
            {"params": [network.first], "weight_decay": self.weight_decay},
            {"params": [network.second], "weight_decay": 0.0},
        ]


class APPNPNetwork(DecoupledNetwork):
    """A two-layer MLP without biases, its scores propagated by personalised PageRank."""

    def __init__(self, data: TrainingData, hidden: int, dropout: float, alpha: float, steps: int):
        super().__init__(data.num_features, hidden, data.num_classes, dropout, bias=False, generator=data.weights)
        self.alpha, self.steps = alpha, steps

    def propagate(self, operators: GraphOperators, z: Tensor, generator: torch.Generator | None = None) -> Tensor:
        return personalised_pagerank(operators.gcn, z, self.alpha, self.steps)
