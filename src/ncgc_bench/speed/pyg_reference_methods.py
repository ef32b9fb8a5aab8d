"""The networks of ncgc.models.registry as one would write them on stock PyG: its layers on edge_index, dense features, autograd."""

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
from ncgc_bench.speed.pyg_reference import edge_index


class Stock(nn.Module):
    """Dense features and edge_index of a task; called as networks of ncgc.models.registry are, with arguments it has no use for."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__()
        self.x = torch.from_numpy(_dense(task))
        self.edges = edge_index(task.graph)
        self.p: float = getattr(method, "dropout", 0.0)

    def forward(self, *_: Any) -> Output:
        h, z = self.walk(F.dropout(self.x, self.p, self.training))
        return Output(h, z)

    def walk(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Embeddings and logits from the dropped features."""
        raise TypeError(f"{type(self).__name__} must define walk(x).")


class StockGCN(Stock):
    """Two GCNConv layers."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        self.first_conv = GCNConv(task.num_features, method.hidden, cached=True, bias=False)
        self.second_conv = GCNConv(method.hidden, task.num_classes, cached=True, bias=False)
        self.p_input: float = getattr(method, "input_dropout", self.p)

    def forward(self, *_: Any) -> Output:
        h = F.relu(self.first_conv(F.dropout(self.x, self.p_input, self.training), self.edges))
        return Output(h, self.second_conv(F.dropout(h, self.p, self.training), self.edges))


class StockGraphMix(StockGCN):
    """Two GCNConv layers, whose first can be had as that of an MLP; the whole graph is walked for any node."""

    @property
    def second(self) -> Tensor:
        return self.second_conv.lin.weight.t()

    def without_graph(self, _: Any, nodes: Tensor, *__: Any) -> Tensor:
        """What is mixed."""
        return F.relu(self.first_conv.lin(F.dropout(self.x[nodes], self.p_input, self.training)))

    def field(self, _: Any, nodes: Tensor) -> Tensor:
        return nodes

    def labelled(self, task: TrainingData) -> Tensor:
        return task.train

    def at(self, nodes: Tensor, *_: Any) -> Tensor:
        logits: Tensor = self().logits[nodes]
        return logits


class StockGAT(Stock):
    """Two GATConv layers."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        self.first = GATConv(task.num_features, method.hidden, method.heads, dropout=self.p)
        width = method.hidden * method.heads
        self.second = GATConv(width, task.num_classes, method.output_heads, concat=False, dropout=self.p)

    def walk(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = F.elu(self.first(x, self.edges))
        return h, self.second(F.dropout(h, self.p, self.training), self.edges)


class StockSAGE(Stock):
    """Two SAGEConv layers."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        self.first = SAGEConv(task.num_features, method.hidden)
        self.second = SAGEConv(method.hidden, task.num_classes)

    def walk(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = F.relu(self.first(x, self.edges))
        return h, self.second(F.dropout(h, self.p, self.training), self.edges)


class StockTuned(Stock):
    """The starred methods: any convolution with a norm and a residual map, and one linear map at the end."""

    def __init__(self, method: Any, task: TrainingData, convolution: Callable[[int, int], nn.Module]):
        super().__init__(method, task)
        widths = [task.num_features] + [method.hidden] * (method.num_layers - 1)
        norms = {None: nn.Identity, "layer": nn.LayerNorm, "batch": nn.BatchNorm1d}
        self.convs = nn.ModuleList(convolution(width, method.hidden) for width in widths)
        self.norms = nn.ModuleList(norms[method.norm](method.hidden) for _ in widths)
        self.residuals = nn.ModuleList(nn.Linear(width, method.hidden) for width in widths if method.residual)
        self.head = nn.Linear(method.hidden, task.num_classes)

    def forward(self, *_: Any) -> Output:
        h = self.x
        for i, conv in enumerate(self.convs):
            z = conv(h, self.edges)
            z = z + self.residuals[i](h) if len(self.residuals) else z
            h = F.dropout(F.relu(self.norms[i](z)), self.p, self.training)
        return Output(h, self.head(h))


class StockSGC(Stock):
    """One SGConv, its propagation cached."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        self.conv = SGConv(task.num_features, task.num_classes, method.steps, cached=True)
        self.p = 0.0

    def walk(self, x: Tensor) -> tuple[Tensor, Tensor]:
        z = self.conv(x, self.edges)
        return z, z


class StockMLP(Stock):
    """Two linear maps, and a hook for what happens to their scores."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        self.first, self.second = (
            nn.Linear(task.num_features, method.hidden),
            nn.Linear(method.hidden, task.num_classes),
        )
        self.steps: int = getattr(method, "steps", 0)

    def walk(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = F.dropout(F.relu(self.first(x)), self.p, self.training)
        return h, self.spread(self.second(h))

    def spread(self, z: Tensor) -> Tensor:
        return z


class StockAPPNP(StockMLP):
    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        self.propagation = APPNP(method.steps, method.alpha, cached=True)

    def spread(self, z: Tensor) -> Tensor:
        result: Tensor = self.propagation(z, self.edges)
        return result


class StockPTA(StockAPPNP):
    """An MLP, propagated in evaluation mode alone."""

    targets: Tensor | None = None

    def spread(self, z: Tensor) -> Tensor:
        return z if self.training else super().spread(z.softmax(dim=1)).clamp_min(1e-12).log()


class StockMLPOnPageRank(StockMLP):
    """The MLP on features that APPNP's propagation has smoothed, once."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        with torch.no_grad():
            self.x = APPNP(method.steps, method.alpha)(self.x, self.edges)


class StockGPRGNN(StockMLP):
    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
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


class StockDAGNN(StockMLP):
    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        self.step, self.gate = one_step(), nn.Linear(task.num_classes, 1)

    def spread(self, z: Tensor) -> Tensor:
        powers = [z]
        for _ in range(self.steps):
            powers.append(self.step(powers[-1], self.edges))
        stacked = torch.stack(powers, dim=1)
        return (torch.sigmoid(self.gate(stacked)) * stacked).sum(dim=1)


class StockGCNII(Stock):
    """GCN2Conv layers between two linear maps."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        width = method.hidden
        self.entry, self.head = nn.Linear(task.num_features, width), nn.Linear(width, task.num_classes)
        self.convs = nn.ModuleList(
            GCN2Conv(width, method.alpha, method.theta, layer, cached=True) for layer in range(1, method.num_layers + 1)
        )

    def walk(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = start = F.relu(self.entry(x))
        for conv in self.convs:
            h = F.relu(conv(F.dropout(h, self.p, self.training), start, self.edges))
        h = F.dropout(h, self.p, self.training)
        return h, self.head(h)


class StockJKNet(Stock):
    """GCNConv layers and JumpingKnowledge."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        width, depth = method.hidden, method.num_layers
        widths = [task.num_features] + [width] * (depth - 1)
        self.convs = nn.ModuleList(GCNConv(columns, width, cached=True) for columns in widths)
        self.jump = JumpingKnowledge("cat" if method.combine == "concat" else "max")
        self.head = nn.Linear(width * (depth if method.combine == "concat" else 1), task.num_classes)

    def walk(self, x: Tensor) -> tuple[Tensor, Tensor]:
        depths = []
        for conv in self.convs:
            x = F.dropout(F.relu(conv(x, self.edges)), self.p, self.training)
            depths.append(x)
        h = self.jump(depths)
        return h, self.head(h)


class StockNormProp(Stock):
    """Two linear maps onto the sphere, and two steps of propagation."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(method, task)
        from ncgc.models.baselines.normprop import simplex

        self.prototypes = simplex(task.num_classes, method.dimension)
        self.first, self.norm = nn.Linear(task.num_features, method.hidden), nn.LayerNorm(method.hidden)
        self.second, self.step = nn.Linear(method.hidden, self.prototypes.shape[1]), one_step()

    def walk(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = F.dropout(F.relu(self.norm(self.first(x))), self.p, self.training)
        h = F.normalize(self.second(x))
        h = self.step(self.step(h, self.edges), self.edges)
        return h, F.normalize(h) @ self.prototypes.t()


class StockGRAND(RandomPropagation):
    """GRAND as its authors have it: dense features propagated by message passing, view by view, before the MLP."""

    def __init__(self, method: Any, task: TrainingData):
        super().__init__(
            task.num_features,
            method.hidden,
            task.num_classes,
            order=method.order,
            node_dropout=method.node_dropout,
            input_dropout=method.input_dropout,
            dropout=method.dropout,
            batch_norm=method.batch_norm,
        )
        self.x, self.edges, self.step = torch.from_numpy(_dense(task)), edge_index(task.graph), one_step()

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
    """Z ↦ Â·Z by PyG's message passing, Â made once."""
    return APPNP(1, 0.0, cached=True)


NETWORKS: dict[str, Callable[[Any, TrainingData], nn.Module]] = {
    "mlp": StockMLP,
    "appnp": StockAPPNP,
    "gat": StockGAT,
    "gat_star": lambda method, task: StockTuned(
        method, task, lambda a, b: GATConv(a, b, add_self_loops=True, bias=False)
    ),
    "gcn": StockGCN,
    "gcn_star": lambda method, task: StockTuned(method, task, lambda a, b: GCNConv(a, b, cached=True)),
    "gprgnn": StockGPRGNN,
    "mlp_ppr": StockMLPOnPageRank,
    "sage": StockSAGE,
    "sage_star": lambda method, task: StockTuned(method, task, SAGEConv),
    "sgc": StockSGC,
    "dagnn": StockDAGNN,
    "gcnii": StockGCNII,
    "jknet": StockJKNet,
    "grand": StockGRAND,
    "graphmix": StockGraphMix,
    "normprop": StockNormProp,
    "pta": StockPTA,
    "self_training": StockGCN,
}


def _dense(task: TrainingData) -> Any:
    features = task.graph.features
    return (features.toarray() if hasattr(features, "toarray") else features).astype("float32")
