"""GraphSAGE*: GraphSAGE with the tuned network."""

from __future__ import annotations

import torch
from torch import nn

from ncgc.models.tuned_networks import SAGEConvolution, Tuned


class SAGEStar(Tuned, hidden=256):
    """:class:`Tuned` with conv(h)_i = mean_{j∈N(i)∪{i}} h_j·W_neigh + h_i·W_self + b.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> SAGEStar(hidden=16, epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GraphSAGE*"
    paper = "Luo et al., NeurIPS 2024"
    family = "classic"
    cost = "a product with rows of A+I around the labels a layer and epoch, 256 columns wide"

    def convolution(self, in_features: int, generator: torch.Generator) -> nn.Module:
        return SAGEConvolution(in_features, self.hidden, generator)
