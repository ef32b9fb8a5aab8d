"""The PyG references of the methods that train one network: PyG's layers on edge_index, dense features, autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import APPNP, GATConv, GCN2Conv, GCNConv, JumpingKnowledge, SAGEConv, SGConv

from ncgc.models.baselines.grand import RandomPropagation
from ncgc.models.network_classifier import TrainingData
from ncgc.nn import Output
from ncgc_bench.speed.pyg_reference_ncgc import edge_index


class ReferenceNetwork(nn.Module):
    """A network that holds dense features and edge_index.

    Methods call it as they call their own network, with operators and a generator, which it ignores.

    Args:
        method: the method, for its hyper-parameters.
        data: the graph and its sizes.
    """

    def __init__(self, method: Any, data: TrainingData):
        super().__init__()
        self.x = torch.from_numpy(_dense(data))
        self.edges = edge_index(data.graph)
        self.p: float = getattr(method, "dropout", 0.0)

    def forward(self, *_: Any) -> Output:
        h, z = self.forward_features(F.dropout(self.x, self.p, self.training))
        return Output(h, z)

    def forward_features(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The network without its input dropout.

        Args:
            x: (n, D) features, after dropout.

        Returns:
            Embeddings (n, d) and logits (n, K).
        """
        raise TypeError(f"{type(self).__name__} must define forward_features(x).")


class ReferenceGCN(ReferenceNetwork):
    """Two GCNConv layers."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        self.first_conv = GCNConv(data.num_features, method.hidden, cached=True, bias=False)
        self.second_conv = GCNConv(method.hidden, data.num_classes, cached=True, bias=False)
        self.p_input: float = getattr(method, "input_dropout", self.p)

    def forward(self, *_: Any) -> Output:
        h = F.relu(self.first_conv(F.dropout(self.x, self.p_input, self.training), self.edges))
        return Output(h, self.second_conv(F.dropout(h, self.p, self.training), self.edges))


class ReferenceGraphMix(ReferenceGCN):
    """Two GCNConv layers, the first also without the graph, as in an MLP; any node needs a pass over all nodes."""

    @property
    def second(self) -> Tensor:
        """(d, K) weights of the second layer."""
        return self.second_conv.lin.weight.t()

    def without_graph(self, _: Any, nodes: Tensor, *__: Any) -> Tensor:
        """The hidden features that GraphMix mixes: the first layer without the graph.

        Args:
            nodes: (m,) node numbers.

        Returns:
            (m, d) hidden features.
        """
        return F.relu(self.first_conv.lin(F.dropout(self.x[nodes], self.p_input, self.training)))

    def field(self, _: Any, nodes: Tensor) -> Tensor:
        """The nodes that the rows of a pass stand for: PyG layers pass all nodes, so there is no receptive field.

        Args:
            nodes: (m,) node numbers.

        Returns:
            The same.
        """
        return nodes

    def labelled(self, data: TrainingData) -> Tensor:
        """The nodes with a training label.

        Args:
            data: the graph and its split.

        Returns:
            (m,) node numbers.
        """
        return data.train

    def at(self, nodes: Tensor, *_: Any) -> Tensor:
        """The logits of some nodes, from a pass over the whole graph.

        Args:
            nodes: (m,) node numbers.

        Returns:
            (m, K) logits.
        """
        logits: Tensor = self().logits[nodes]
        return logits


class ReferenceGAT(ReferenceNetwork):
    """Two GATConv layers."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        self.first = GATConv(data.num_features, method.hidden, method.heads, dropout=self.p)
        width = method.hidden * method.heads
        self.second = GATConv(width, data.num_classes, method.output_heads, concat=False, dropout=self.p)

    def forward_features(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = F.elu(self.first(x, self.edges))
        return h, self.second(F.dropout(h, self.p, self.training), self.edges)


class ReferenceSAGE(ReferenceNetwork):
    """Two SAGEConv layers."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        self.first = SAGEConv(data.num_features, method.hidden)
        self.second = SAGEConv(method.hidden, data.num_classes)

    def forward_features(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = F.relu(self.first(x, self.edges))
        return h, self.second(F.dropout(h, self.p, self.training), self.edges)


class ReferenceTuned(ReferenceNetwork):
    """The starred methods: any convolution with a norm and a residual map, and one linear map at the end."""

    def __init__(self, method: Any, data: TrainingData, convolution: Callable[[int, int], nn.Module]):
        super().__init__(method, data)
        widths = [data.num_features] + [method.hidden] * (method.num_layers - 1)
        norms = {None: nn.Identity, "layer": nn.LayerNorm, "batch": nn.BatchNorm1d}
        self.convs = nn.ModuleList(convolution(width, method.hidden) for width in widths)
        self.norms = nn.ModuleList(norms[method.norm](method.hidden) for _ in widths)
        self.residuals = nn.ModuleList(nn.Linear(width, method.hidden) for width in widths if method.residual)
        self.head = nn.Linear(method.hidden, data.num_classes)

    def forward(self, *_: Any) -> Output:
        h = self.x
        for i, conv in enumerate(self.convs):
            z = conv(h, self.edges)
            z = z + self.residuals[i](h) if len(self.residuals) else z
            h = F.dropout(F.relu(self.norms[i](z)), self.p, self.training)
        return Output(h, self.head(h))


class ReferenceSGC(ReferenceNetwork):
    """One SGConv, its propagation cached."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        self.conv = SGConv(data.num_features, data.num_classes, method.steps, cached=True)
        self.p = 0.0

    def forward_features(self, x: Tensor) -> tuple[Tensor, Tensor]:
        z = self.conv(x, self.edges)
        return z, z


class ReferenceMLP(ReferenceNetwork):
    """Two linear maps, and a hook, `spread`, that propagates their scores."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        self.first, self.second = (
            nn.Linear(data.num_features, method.hidden),
            nn.Linear(method.hidden, data.num_classes),
        )
        self.steps: int = getattr(method, "steps", 0)

    def forward_features(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = F.dropout(F.relu(self.first(x)), self.p, self.training)
        return h, self.spread(self.second(h))

    def spread(self, z: Tensor) -> Tensor:
        """Propagate the scores; here they stay as they are.

        Args:
            z: (n, K) scores.

        Returns:
            (n, K) logits.
        """
        return z


class ReferenceAPPNP(ReferenceMLP):
    """An MLP whose scores APPNP propagates."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        self.propagation = APPNP(method.steps, method.alpha, cached=True)

    def spread(self, z: Tensor) -> Tensor:
        result: Tensor = self.propagation(z, self.edges)
        return result


class ReferencePTA(ReferenceAPPNP):
    """An MLP, propagated in evaluation mode alone."""

    targets: Tensor | None = None

    def spread(self, z: Tensor) -> Tensor:
        return z if self.training else super().spread(z.softmax(dim=1)).clamp_min(1e-12).log()


class ReferenceMLPOnPageRank(ReferenceMLP):
    """The MLP on features that APPNP's propagation has smoothed, once."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        with torch.no_grad():
            self.x = APPNP(method.steps, method.alpha)(self.x, self.edges)


class ReferenceGPRGNN(ReferenceMLP):
    """An MLP whose scores are propagated, the steps weighted by learnt γ."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        self.step = one_step()
        self.gamma = nn.Parameter(torch.ones(method.steps + 1))
        self.p_between: float = method.propagation_dropout

    def spread(self, z: Tensor) -> Tensor:
        z = F.dropout(z, self.p_between, self.training)
        whole = self.gamma[0] * z
        for gamma in self.gamma[1:]:
            z = self.step(z, self.edges)
            whole = whole + gamma * z
        return whole


class ReferenceDAGNN(ReferenceMLP):
    """An MLP whose scores are propagated, the steps weighted by a learnt gate."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        self.step, self.gate = one_step(), nn.Linear(data.num_classes, 1)

    def spread(self, z: Tensor) -> Tensor:
        powers = [z]
        for _ in range(self.steps):
            powers.append(self.step(powers[-1], self.edges))
        stacked = torch.stack(powers, dim=1)
        return (torch.sigmoid(self.gate(stacked)) * stacked).sum(dim=1)


class ReferenceGCNII(ReferenceNetwork):
    """GCN2Conv layers between two linear maps."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        width = method.hidden
        self.entry, self.head = nn.Linear(data.num_features, width), nn.Linear(width, data.num_classes)
        self.convs = nn.ModuleList(
            GCN2Conv(width, method.alpha, method.theta, layer, cached=True) for layer in range(1, method.num_layers + 1)
        )

    def forward_features(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = start = F.relu(self.entry(x))
        for conv in self.convs:
            h = F.relu(conv(F.dropout(h, self.p, self.training), start, self.edges))
        h = F.dropout(h, self.p, self.training)
        return h, self.head(h)


class ReferenceJKNet(ReferenceNetwork):
    """GCNConv layers and JumpingKnowledge."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        width, depth = method.hidden, method.num_layers
        widths = [data.num_features] + [width] * (depth - 1)
        self.convs = nn.ModuleList(GCNConv(columns, width, cached=True) for columns in widths)
        self.jump = JumpingKnowledge("cat" if method.combine == "concat" else "max")
        self.head = nn.Linear(width * (depth if method.combine == "concat" else 1), data.num_classes)

    def forward_features(self, x: Tensor) -> tuple[Tensor, Tensor]:
        depths = []
        for conv in self.convs:
            x = F.dropout(F.relu(conv(x, self.edges)), self.p, self.training)
            depths.append(x)
        h = self.jump(depths)
        return h, self.head(h)


class ReferenceNormProp(ReferenceNetwork):
    """Two linear maps onto the sphere, and two steps of propagation."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(method, data)
        from ncgc.models.baselines.normprop import simplex

        self.prototypes = simplex(data.num_classes, method.dimension)
        self.first, self.norm = nn.Linear(data.num_features, method.hidden), nn.LayerNorm(method.hidden)
        self.second, self.step = nn.Linear(method.hidden, self.prototypes.shape[1]), one_step()

    def forward_features(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = F.dropout(F.relu(self.norm(self.first(x))), self.p, self.training)
        h = F.normalize(self.second(x))
        h = self.step(self.step(h, self.edges), self.edges)
        return h, F.normalize(h) @ self.prototypes.t()


class ReferenceGRAND(RandomPropagation):
    """GRAND as its authors have it: dense features propagated by message passing, view by view, before the MLP."""

    def __init__(self, method: Any, data: TrainingData):
        super().__init__(
            data.num_features,
            method.hidden,
            data.num_classes,
            order=method.order,
            node_dropout=method.node_dropout,
            input_dropout=method.input_dropout,
            dropout=method.dropout,
            batch_norm=method.batch_norm,
        )
        self.x, self.edges, self.step = torch.from_numpy(_dense(data)), edge_index(data.graph), one_step()

    def forward(self, *_: Any) -> Output:
        kept = torch.full((len(self.x), 1), 1 - self.node_dropout)
        return self._rest(self._normalised(self._mean_of_steps(kept * self.x)) @ self.first, None)

    def _inputs(self, operators: Any, generator: Any, count: int) -> list[Tensor]:
        draws = [torch.rand(len(self.x), 1) >= self.node_dropout for _ in range(count)]
        spread = (self._normalised(self._mean_of_steps(draw * self.x)) for draw in draws)
        return [F.dropout(x, self.input_dropout, self.training) @ self.first for x in spread]

    def _mean_of_steps(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            whole = x
            for _ in range(self.order):
                x = self.step(x, self.edges)
                whole = whole + x
            return whole / (self.order + 1)


def one_step() -> nn.Module:
    """One step of propagation, Z ↦ Â·Z, by PyG's message passing with Â cached.

    Returns:
        A module that takes Z and edge_index.
    """
    return APPNP(1, 0.0, cached=True)


# method → its network, made from the method and its training data
NETWORKS: dict[str, Callable[[Any, TrainingData], nn.Module]] = {
    "mlp": ReferenceMLP,
    "appnp": ReferenceAPPNP,
    "gat": ReferenceGAT,
    "gat_star": lambda method, data: ReferenceTuned(
        method, data, lambda a, b: GATConv(a, b, add_self_loops=True, bias=False)
    ),
    "gcn": ReferenceGCN,
    "gcn_star": lambda method, data: ReferenceTuned(method, data, lambda a, b: GCNConv(a, b, cached=True)),
    "gprgnn": ReferenceGPRGNN,
    "mlp_ppr": ReferenceMLPOnPageRank,
    "sage": ReferenceSAGE,
    "sage_star": lambda method, data: ReferenceTuned(method, data, SAGEConv),
    "sgc": ReferenceSGC,
    "dagnn": ReferenceDAGNN,
    "gcnii": ReferenceGCNII,
    "jknet": ReferenceJKNet,
    "grand": ReferenceGRAND,
    "graphmix": ReferenceGraphMix,
    "normprop": ReferenceNormProp,
    "pta": ReferencePTA,
    "self_training": ReferenceGCN,
}


def _dense(data: TrainingData) -> Any:
    features = data.graph.features
    return (features.toarray() if hasattr(features, "toarray") else features).astype("float32")
