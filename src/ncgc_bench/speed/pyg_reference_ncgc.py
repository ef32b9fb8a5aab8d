"""The PyG reference of NCGC: GCNConv or GATConv layers, autograd for everything, dense features.

The yardstick of `epochs`. It is written with care, not as a straw man: Z is computed once per layer, the soft
orthogonal term goes through the d×d Gram matrix (never n×n), the normalised adjacency is cached, and the three losses
are ncgc's own fast ones, so that what is compared is the network and the optimiser's step.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv

from ncgc.graph import Graph
from ncgc.io.formats.pyg import to_pyg
from ncgc.nn import SOGN, Output


def soft_orthogonal(z: Tensor, beta: float) -> Tensor:
    """The soft orthogonal term −β·Z̃(Z̃ᵀZ) by autograd, Z̃ having the columns of Z at length 1.

    Args:
        z: (n, d) transformed features Z.
        beta: its strength β.

    Returns:
        (n, d).
    """
    unit = z / z.norm(dim=0, keepdim=True).clamp_min(1e-12)
    return -beta * (unit @ (unit.t() @ z))


class ReferenceNCGC(nn.Module):
    """A SOGN of backbone gcn or gat on PyG's layers, with the same weights.

    Args:
        like: the network to copy.
        in_features: columns of the features.
        num_classes: K.
    """

    def __init__(self, like: SOGN, in_features: int, num_classes: int):
        super().__init__()
        self.beta, self.dropout = like.beta, like.dropout
        width = like.hidden
        sizes = [in_features] + [width] * len(like.convs)
        if like.backbone == "gcn":
            self.convs = nn.ModuleList(GCNConv(a, b, cached=True) for a, b in pairwise(sizes))
        else:
            heads = like.heads
            self.convs = nn.ModuleList(GATConv(a, b // heads, heads) for a, b in pairwise(sizes))
        self.head = nn.Linear(width, num_classes, bias=False)
        with torch.no_grad():
            self.head.weight.copy_(like.prototypes.t())
            for conv, ours in _pairs(self.convs, like.convs):
                conv.lin.weight.copy_(ours.weight.t())
                conv.bias.copy_(ours.bias)
                if like.backbone == "gat":
                    conv.att_src.copy_(ours.source)
                    conv.att_dst.copy_(ours.target)

    def forward(self, x: Tensor, edges: Tensor) -> Output:
        """A forward pass over the whole graph.

        Args:
            x: (n, D) features.
            edges: edge_index (2, m), or a CSR adjacency (n, n).

        Returns:
            Embeddings (n, d) and logits (n, K).
        """
        conv: Any
        for conv in self.convs:
            seen: list[Tensor] = []
            handle = conv.lin.register_forward_hook(lambda module, inputs, output, seen=seen: seen.append(output))
            out = conv(x, edges)
            handle.remove()
            x = F.dropout(F.relu(out + soft_orthogonal(seen[0], self.beta)), self.dropout, self.training)
        return Output(x, self.head(x))


def _pairs(reference: nn.ModuleList, ours: nn.ModuleList) -> list[tuple[Any, Any]]:
    return list(zip(reference, ours, strict=True))


def edge_index(graph: Graph) -> Tensor:
    """The edges of a graph as PyG takes them.

    Args:
        graph: the graph.

    Returns:
        (2, m) node pairs, each edge in both directions.
    """
    return to_pyg(graph).edge_index


def csr_adjacency(graph: Graph) -> Tensor:
    """The adjacency as a torch CSR tensor, which PyG layers take in place of edge_index.

    They expect the transpose; the adjacency is symmetric, so it equals its transpose.

    Args:
        graph: the graph.

    Returns:
        (n, n) sparse tensor.
    """
    a = graph.adjacency
    pointers, columns = torch.from_numpy(a.indptr.astype("int64")), torch.from_numpy(a.indices.astype("int64"))
    return torch.sparse_csr_tensor(pointers, columns, torch.from_numpy(a.data.copy()), a.shape, check_invariants=False)
