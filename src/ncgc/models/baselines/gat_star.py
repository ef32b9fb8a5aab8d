"""GAT*: GAT with the tuned network."""

from __future__ import annotations

import torch
from torch import nn

from ncgc.models.tuned_networks import GATConvolution, Tuned


class GATStar(Tuned, dropout=0.2, residual=True):
    """:class:`Tuned` with conv(H) = Σ_j α_ij·h_j·W over N(i)∪{i}, one head, no bias.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> GATStar(hidden=16, epochs=10).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GAT*"
    paper = "Luo et al., NeurIPS 2024"
    family = "classic"
    cost = "attention over the edges around the labels a layer and epoch, 512 columns wide"

    def convolution(self, in_features: int, generator: torch.Generator) -> nn.Module:
        return GATConvolution(in_features, self.hidden, generator)
