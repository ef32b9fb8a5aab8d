"""The PyG references of methods with several stages or batches: M3S, Violin, Meta-PN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import to_undirected

from ncgc.models.baselines.meta_pn import Batch, Propagator
from ncgc.models.network_classifier import TrainingData
from ncgc.nn import Output
from ncgc_bench.speed.pyg_reference_methods import ReferenceGCN, ReferencePTA
from ncgc_bench.speed.pyg_reference_ncgc import edge_index


class ReferenceViolin(ReferenceGCN):
    """Two GCNConv layers on the graph, normalised once, or on a graph with links, normalised each time."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        self.first_conv = GCNConv(data.num_features, method.hidden, normalize=False)
        self.second_conv = GCNConv(method.hidden, data.num_classes, normalize=False)
        self.plain = gcn_norm(self.edges, None, len(self.x))

    def forward(self, graph: Any = None, *_: Any) -> Output:
        """The network on a graph with links, or on the plain one.

        Args:
            graph: (2, m) the edges of a graph with links; anything else stands for the plain graph.

        Returns:
            (n, d) hidden states and (n, K) logits.
        """
        edges, weights = gcn_norm(graph, None, len(self.x)) if isinstance(graph, Tensor) else self.plain
        h = F.relu(self.first_conv(F.dropout(self.x, self.p_input, self.training), edges, weights))
        return Output(h, self.second_conv(F.dropout(h, self.p, self.training), edges, weights))


class ReferenceMetaPN(ReferencePTA):
    """PTA's network, whose MLP also takes some rows alone."""

    def on_rows(self, x: Tensor) -> Tensor:
        """The MLP on some rows of features.

        Args:
            x: (m, D) features.

        Returns:
            (m, K) scores.
        """
        scores: Tensor = self.second(F.dropout(F.relu(self.first(x)), self.p, self.training))
        return scores


class OnRows(nn.Module):
    """The MLP of a network as a module of its own, which torch.func can call with other weights."""

    def __init__(self, network: ReferenceMetaPN):
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        return self.network.on_rows(x)


class ViolinHooks:
    """Violin's graph with added links is an edge_index."""

    _edges: tuple[TrainingData, Tensor] | None = None

    def linked(self, data: TrainingData, links: Tensor) -> Tensor:
        """The graph with added links.

        Args:
            data: the graph.
            links: (2, l) node pairs to add.

        Returns:
            (2, m) edge_index of both, each edge in both directions.
        """
        if self._edges is None or self._edges[0] is not data:
            self._edges = data, edge_index(data.graph)
        edges: Tensor = to_undirected(torch.cat([self._edges[1], links], dim=1))
        return edges


class MetaPNHooks:
    """Dense rows, and autograd for the gradient through Meta-PN's virtual step."""

    learning_rate: float
    soft_loss: Callable[[Tensor, Tensor], Tensor]

    def rows(self, data: TrainingData, nodes: Tensor) -> Tensor:
        """The features of some nodes as a dense matrix.

        Args:
            data: the graph.
            nodes: (m,) node numbers.

        Returns:
            (m, D) features.
        """
        features = data.graph.features[nodes.numpy()]
        return torch.from_numpy(features.toarray() if hasattr(features, "toarray") else features).float()

    def passed(self, network: nn.Module, features: Tensor, drops: torch.Generator) -> Tensor:
        """The scores of some rows.

        Args:
            network: the network, a :class:`ReferenceMetaPN`.
            features: (m, D) features.
            drops: unused; PyG layers draw from torch's own generator.

        Returns:
            (m, K) scores.
        """
        assert isinstance(network, ReferenceMetaPN)
        return network.on_rows(features)

    def meta_loss(self, network: nn.Module, batch: Batch, propagator: Propagator) -> Tensor:
        """The loss on the labelled nodes after a virtual step of gradient descent on the soft labels.

        Args:
            network: the network, a :class:`ReferenceMetaPN`.
            batch: features of the batch and of the labelled nodes.
            propagator: gives the soft labels of a batch; the gradient flows through it.

        Returns:
            The loss, a scalar.
        """
        assert isinstance(network, ReferenceMetaPN)
        mlp = OnRows(network)
        weights = {name: weight.detach().requires_grad_() for name, weight in mlp.named_parameters()}
        loss = self.soft_loss(functional_call(mlp, weights, (batch.features,)), propagator(batch.nodes))
        slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
        moved = {
            name: weight - self.learning_rate * slope
            for (name, weight), slope in zip(weights.items(), slopes, strict=True)
        }
        return F.cross_entropy(functional_call(mlp, moved, (batch.gold,)), batch.gold_labels)


NETWORKS: dict[str, Callable[[Any, TrainingData], nn.Module]] = {
    "m3s": ReferenceGCN,
    "violin": ReferenceViolin,
    "meta_pn": ReferenceMetaPN,
}
# method → what replaces its hooks besides the network
HOOKS: dict[str, tuple[type, ...]] = {"violin": (ViolinHooks,), "meta_pn": (MetaPNHooks,)}
