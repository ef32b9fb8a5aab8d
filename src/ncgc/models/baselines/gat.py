"""GAT, as its authors trained it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.nn import GraphOperators, Output
from ncgc.nn.weights import glorot
from ncgc.ops import FeatureMatrix, attend, dropout, linear
from ncgc.params.parameter import declared
from ncgc.training import StoppingRule

# which epoch is kept, and whether a gain in accuracy or loss alone is enough to go on; words of ncgc.training.KeepEpoch
STOPPING: dict[str, tuple[str, bool]] = {"both": ("both", True), "accuracy": ("latest", False), "loss": ("loss", False)}


class GAT(NetworkClassifier, dropout=0.6, learning_rate=0.005, epochs=2000):
    """H = ELU(‖_h Σ_j α_ij·x_j·W_h + b), Z = mean_h Σ_j α_ij·h_j·V_h + c (Veličković et al., 2018).

    α_ij = softmax over j ∈ N(i)∪{i} of LeakyReLU(a·x_i·W + b_a + a'·x_j·W + b_a'), weighted by the edges where these have
    weights. Dropout on the inputs of both layers, drawn for each head anew, on their products with W and on α. L2 on all
    parameters. Kept is the last epoch at which neither validation accuracy nor loss has ever been better, as in the authors'
    code, or by ``stopping`` the best of one of the two, as they have it on CiteSeer and PubMed.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> GAT(epochs=3).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GAT"
    paper = "Veličković et al., ICLR 2018"
    family = "classic"
    cost = "attention over the edges around the labels for each of eight heads, twice an epoch"
    hidden: int = declared(8, "width of each head", low=1)
    heads: int = declared(8, "heads of the first layer, side by side", low=1)
    output_heads: int = declared(1, "heads of the second layer, averaged", low=1)
    stopping: str = declared(
        "both", "what of the validation nodes keeps an epoch and ends training", choices=tuple(STOPPING)
    )

    def depth(self) -> int:
        return 2

    def stopping_rule(self, graph: Graph, split: Split) -> StoppingRule:
        rule, either = STOPPING[self.stopping]
        return self.stopping_rule_by(rule, graph, split, either=either)

    def network(self, data: TrainingData) -> nn.Module:
        return GATNetwork(
            data.num_features,
            self.hidden,
            data.num_classes,
            self.dropout,
            heads=self.heads,
            output_heads=self.output_heads,
            generator=data.weights,
        )


class GATNetwork(nn.Module):
    """Two layers of attention; the hidden states are the embeddings."""

    def __init__(
        self,
        in_features: int,
        hidden: int,
        num_classes: int,
        dropout: float,
        *,
        heads: int = 8,
        output_heads: int = 1,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        self.first = Attention(in_features, hidden, heads, dropout, generator)
        self.second = Attention(heads * hidden, num_classes, output_heads, dropout, generator)

    def forward(self, operators: GraphOperators, generator: torch.Generator | None = None) -> Output:
        features = operators.features.for_dropout if self.training else operators.features
        h = elu(self.first(features, operators.of_layer(0), generator))
        z = self.second(h, operators.of_layer(1), generator)
        heads = self.second.heads
        return Output(h[: len(z)], z if heads == 1 else z.view(len(z), heads, -1).mean(dim=1))


class Attention(nn.Module):
    """(n, heads·c) the attention of each head, side by side, + bias; begun head by head as TensorFlow begins a layer.

    Args:
        columns: c, width of a head.
        dropout: on the inputs, once a head, on the products with W and on the attention coefficients.
    """

    def __init__(
        self, in_features: int, columns: int, heads: int, dropout: float, generator: torch.Generator | None = None
    ):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.weight = _side_by_side(in_features, columns, heads, generator)
        self.source = _side_by_side(columns, 1, heads, generator)  # (c, heads)
        self.target = _side_by_side(columns, 1, heads, generator)
        self.source_bias, self.target_bias = (nn.Parameter(torch.zeros(heads)) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(heads * columns))

    def forward(
        self, h: Tensor | FeatureMatrix, operators: GraphOperators, generator: torch.Generator | None = None
    ) -> Tensor:
        """Attention of every node over its neighbourhood, with dropout of input, messages and coefficients in training.

        Args:
            h: (n, in) hidden states or features.
            operators: of the graph.
            generator: of the dropout.

        Returns:
            (n, heads·out).
        """
        p = self.dropout if self.training else 0.0
        z = self._products(h, p, generator)
        by_head = z.view(len(z), self.heads, -1)
        source = torch.einsum("nhc,ch->nh", by_head, self.source) + self.source_bias
        looking = by_head[: operators.neighbourhood.shape[0]]
        target = torch.einsum("nhc,ch->nh", looking, self.target) + self.target_bias
        z = dropout(z, self.dropout, generator, self.training)
        return attend(operators.neighbourhood, z, source, target, p=p, generator=generator, bias=self.bias)

    def _products(self, h: Tensor | FeatureMatrix, p: float, generator: torch.Generator | None) -> Tensor:
        """(n, heads·c) drop_k(H)·W_k of each head k, side by side."""
        if p == 0:
            return linear(h, self.weight)
        heads = self.weight.chunk(self.heads, dim=1)
        return torch.cat([linear(_dropped(h, p, generator), weight) for weight in heads], dim=1)


def _dropped(h: Tensor | FeatureMatrix, p: float, generator: torch.Generator | None) -> Tensor | FeatureMatrix:
    return h.dropout(p, generator) if isinstance(h, FeatureMatrix) else dropout(h, p, generator)


def _side_by_side(rows: int, columns: int, heads: int, generator: torch.Generator | None) -> nn.Parameter:
    return nn.Parameter(torch.cat([glorot(rows, columns, generator).data for _ in range(heads)], dim=1))
