"""Violin: virtual links between nodes that a trained GCN puts in one class, drawn anew every epoch."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ncgc.models.baselines.self_training import anew
from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.networks import TwoLayerGCN
from ncgc.models.stages import interrupted, joined, later
from ncgc.nn import GraphOperators
from ncgc.ops import SparseMatrix, gcn_normalised
from ncgc.params.parameter import declared
from ncgc.training import Adam, LastEpoch, StoppingRule, TrainingResult, Watcher
from ncgc.training.engines.full_batch import train_full_batch

_FEWEST = 10  # nodes held out below which their accuracy is no guide
_SURE = 0.9  # the confidence that is enough then


class Violin(NetworkClassifier, hidden=16, dropout=0.6, epochs=300, patience=None):
    """A GCN trained on a graph and on the same graph with virtual links, to predict the same on both (Xie et al., 2023).

    A GCN is trained first: ŷ are its classes, the given ones on the training nodes. Every epoch each node that it is sure of
    gets m links to nodes of the same ŷ, whichever. Loss: CE + α·mean_unlabelled ‖p − p'‖₁ + γ·mean_links ‖p'_u − p'_v‖₁ with
    p and p' the probabilities without and with the links. Whenever the validation accuracy exceeds that of the GCN which ŷ is
    from, ŷ is predicted anew. The labels are predicted without links.

    The authors choose the confidence that is enough on validation labels. Ours is from training labels: a GCN fitted on two
    thirds of every class shows at which confidence it is right often enough (δ) on the last third, and as large a fraction of
    all nodes is then linked; with fewer than 10 nodes held out the confidence is 0.9.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> Violin(epochs=5).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "Violin"
    paper = "Xie et al., IJCAI 2023"
    family = "augmentation"
    cost = "three trainings of a GCN, one of them on two graphs"
    keep = "accuracy"

    consistency: float = declared(0.8, "α: weight of the change by the links", low=0)
    agreement: float = declared(0.6, "γ: weight of the difference of linked nodes", low=0)
    accuracy: float = declared(0.9, "δ: how often the sure nodes must be right", low=0, high=1)
    links: int = declared(1, "m: virtual links a node", low=1)
    classify: str = declared("linked", "the graph of the cross-entropy", choices=("original", "linked", "both"))

    def depth(self) -> int:
        return 2  # the trainings before the links are on the labels alone

    def network(self, data: TrainingData) -> nn.Module:
        return TwoLayerGCN(
            data.num_features, self.hidden, data.num_classes, self.dropout, bias=True, generator=data.weights
        )

    def train(
        self, data: TrainingData, network: nn.Module, stopping: StoppingRule, watch: Watcher | None
    ) -> TrainingResult:
        parts: list[TrainingResult] = []
        kept, held = thirds(data.labels, data.drops)
        share = None
        if len(held) >= _FEWEST:
            fewer = replace(data, train=data.train[kept], labels=data.labels[kept])
            parts.append(super().train(fewer, network, LastEpoch(), watch))
            if interrupted(parts):
                return joined(parts)
            share = sure_share(_probabilities(network, data), data.train[held], data.labels[held], self.accuracy)
            anew(self, data, network)
        parts.append(super().train(data, network, deepcopy(stopping), later(watch, parts)))
        if interrupted(parts):
            return joined(parts)
        parts.append(self._linked(data, network, share, parts, stopping, watch))
        return joined(parts)

    def _linked(
        self,
        data: TrainingData,
        network: nn.Module,
        share: float | None,
        before: list[TrainingResult],
        stopping: StoppingRule,
        watch: Watcher | None,
    ) -> TrainingResult:
        """The training with links, from the weights that are there."""
        estimate = _Estimate(data, _probabilities(network, data), share)
        reached = before[-1].history.at(before[-1].best_epoch).get("val_accuracy", 1.0)
        latest = 0.0
        further = later(watch, before)

        def notice(epoch: int, quantities: dict[str, float]) -> None:
            nonlocal latest
            latest = quantities.get("val_accuracy", 0.0)
            if further is not None:
                further(epoch, quantities)

        def loss(epoch: int) -> dict[str, Tensor]:
            nonlocal estimate, reached
            if latest > reached:
                network.eval()
                estimate, reached = _Estimate(data, _probabilities(network, data), share), latest
                network.train()
            return self._loss(data, network, estimate.links(self.links, data.drops))

        def evaluate() -> Tensor:
            logits: Tensor = network(data.seen, None).logits
            return logits

        optimizer = Adam(self.groups(network), lr=self.learning_rate, fused=True)
        return train_full_batch(network, optimizer, loss, evaluate, stopping, self.epochs, notice)

    def linked(self, data: TrainingData, links: Tensor) -> Any:
        """The graph with virtual links, in the form that the network takes.

        Args:
            data: what to train on.
            links: (2, l) node numbers.

        Returns:
            The operators of that graph.
        """
        return with_links(data.operators, links)

    def _loss(self, data: TrainingData, network: nn.Module, links: Tensor) -> dict[str, Tensor]:
        plain = network(data.operators, data.drops).logits
        linked = network(self.linked(data, links), data.drops).logits
        graphs = {"original": [plain], "linked": [linked], "both": [plain, linked]}[self.classify]
        found = torch.stack([cross_entropy(logits[data.train], data.labels) for logits in graphs]).mean()
        before, after = plain.softmax(dim=1), linked.softmax(dim=1)
        change = (before - after)[data.unlabelled].abs().sum(dim=1)
        parts = {"class": found}
        if len(change):
            parts["consistency"] = self.consistency * change.mean()
        if links.shape[1]:
            parts["agreement"] = self.agreement * (after[links[0]] - after[links[1]]).abs().sum(dim=1).mean()
        return parts


class _Estimate:
    """The classes of all nodes by one network, and which of them are sure enough to be linked."""

    def __init__(self, data: TrainingData, probabilities: Tensor, share: float | None):
        confidence, labels = probabilities.max(dim=1)
        labels[data.train] = data.labels
        self.labels = labels
        if share is None:
            self.sure = (confidence >= _SURE).nonzero().squeeze(1)
        else:
            number = round(share * len(confidence))
            self.sure = confidence.argsort(descending=True, stable=True)[:number].sort().values
        self.by_class = labels.argsort(stable=True)
        self.sizes = torch.bincount(labels, minlength=data.num_classes)
        self.starts = self.sizes.cumsum(0) - self.sizes

    def links(self, each: int, generator: torch.Generator) -> Tensor:
        """(2, l) every sure node and another of the same class, drawn ``each`` times; nobody is linked with himself."""
        nodes = self.sure.repeat(each)
        of = self.labels[nodes]
        place = (torch.rand(len(nodes), generator=generator) * self.sizes[of]).long().clamp_max(self.sizes[of] - 1)
        partners = self.by_class[self.starts[of] + place]
        return torch.stack([partners, nodes])[:, partners != nodes]


def _probabilities(network: nn.Module, data: TrainingData) -> Tensor:
    with torch.no_grad():
        found: Tensor = network(data.operators, None).logits.softmax(dim=1)
    return found


def thirds(labels: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Split labels at random, class by class: a third, rounded down, is held out.

    Args:
        labels: (l,) classes.
        generator: of the order.

    Returns:
        Positions in ``labels`` of those that are kept and of those held out.
    """
    kept, held = [], []
    for c in labels.unique():
        places = (labels == c).nonzero().squeeze(1)
        places = places[torch.randperm(len(places), generator=generator)]
        number = len(places) // 3
        held.append(places[:number])
        kept.append(places[number:])
    return torch.cat(kept), torch.cat(held)


def sure_share(probabilities: Tensor, nodes: Tensor, labels: Tensor, accuracy: float) -> float:
    """The fraction of all nodes that are predicted with enough confidence.

    Enough is the lowest of 0, 0.1, … at or above which more than ``accuracy`` of the held-out nodes are predicted
    correctly; if there is none, the confidence with the highest accuracy.

    Args:
        probabilities: (n, K).
        nodes: (m,) held-out nodes.
        labels: (m,) their classes.
        accuracy: from 0 to 1.

    Returns:
        From 0 to 1.
    """
    confidence, predicted = probabilities.max(dim=1)
    tenths = (confidence * 10).long()
    right = (predicted[nodes] == labels).double()
    rates = torch.zeros(11, dtype=torch.float64)
    for tenth in range(11):
        above = tenths[nodes] >= tenth
        if above.any():
            rates[tenth] = right[above].mean()
    enough = (rates > accuracy).nonzero().squeeze(1)
    lowest = int(enough[0]) if len(enough) else int(rates.argmax())
    return (tenths >= lowest).double().mean().item()


def with_links(operators: GraphOperators, links: Tensor) -> GraphOperators:
    """The operators of a graph with more edges, each of the mean weight; the features are not copied.

    Args:
        operators: of the graph.
        links: (2, l) ends of the new edges; edges that exist already stay as they are.

    Returns:
        A copy with another Â.
    """
    adjacency = operators.graph.adjacency
    weight = float(adjacency.data.mean()) if adjacency.nnz else 1.0
    rows, columns = (torch.cat([links[0], links[1]]).numpy(), torch.cat([links[1], links[0]]).numpy())
    extra = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=adjacency.shape)
    extra.data[:] = weight  # a pair drawn twice is one link
    present = extra.multiply(adjacency != 0)
    whole = sparse.csr_array(adjacency + (extra - present)).astype(adjacency.dtype)
    whole.eliminate_zeros()
    assert operators.features is not None  # made before the copy, which shares it
    result = copy(operators)
    result.__dict__["gcn"] = SparseMatrix.from_scipy(gcn_normalised(whole), symmetric=True, dtype=operators.dtype)
    return result
