"""GCN*: GCN with the tuned network."""

from __future__ import annotations

import torch
from torch import nn

from ncgc.models.tuned_networks import GCNConvolution, Tuned


class GCNStar(Tuned):
    """:class:`Tuned` with conv(H) = Â·H·W + b.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> GCNStar(hidden=16, epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "GCN*"
    paper = "Luo et al., NeurIPS 2024"
    family = "classic"
    cost = "a product with rows of Â around the labels a layer and epoch, 512 columns wide"

    def convolution(self, in_features: int, generator: torch.Generator) -> nn.Module:
        return GCNConvolution(in_features, self.hidden, generator)
