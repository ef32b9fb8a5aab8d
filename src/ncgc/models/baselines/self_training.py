"""Self-training: a GCN labels the nodes it is surest of, and another is trained on those too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ncgc.graph import Graph
from ncgc.models.baselines.gcn import GCN
from ncgc.models.network_classifier import NetworkClassifier, TrainingData
from ncgc.models.stages import interrupted, joined, later
from ncgc.params.parameter import declared
from ncgc.training import LastEpoch, StoppingRule, TrainingResult, Watcher


class SelfTraining(GCN):
    """Train a GCN, add of each class c the t_c unlabelled nodes it is surest of to the labels, train anew (Li et al., 2018).

    t_c = 3η·(share of c among the training nodes), η = n/d̄² with the mean degree d̄: as many labels as two layers need to
    reach the graph, three times. At least one node a class is added. As the authors have it, validation nodes are not
    used: both trainings go through all epochs.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> SelfTraining(epochs=20).fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "Self-training"
    paper = "Li et al., AAAI 2018"
    family = "pseudo-labels"
    cost = "two trainings of a GCN"
    keep = "last"
    keep_options: ClassVar[dict[str, Any]] = {}

    reach: float = declared(3.0, "labels to add, in multiples of η = n/d̄²", low=0)

    def train(
        self, data: TrainingData, network: nn.Module, stopping: StoppingRule, watch: Watcher | None
    ) -> TrainingResult:
        parts = [NetworkClassifier.train(self, data, network, LastEpoch(), watch)]
        if not interrupted(parts):
            with torch.no_grad():
                found = network(data.operators, None).logits.softmax(dim=1)
            counts = additions(data, self.reach)
            nodes = most_confident(found, data.unlabelled, counts)
            anew(self, data, network)
            parts.append(
                NetworkClassifier.train(
                    self, extended(data, nodes, found[nodes].argmax(dim=1)), network, stopping, later(watch, parts)
                )
            )
        return joined(parts)


def expansion(graph: Graph, layers: int = 2) -> float:
    """η = n/d̄^layers, the number of labels at which every node has one within reach of a GCN; d̄ is the mean degree.

    Args:
        graph: whose nodes and edges are counted.
        layers: of the GCN.

    Returns:
        η.
    """
    degree = graph.adjacency.nnz / graph.num_nodes
    return float(graph.num_nodes / max(degree, 1.0) ** layers)


def additions(data: TrainingData, reach: float) -> Tensor:
    """How many nodes of each class to add: t_c = reach·η·(fraction of the labels that are of class c), rounded down.

    Args:
        data: with the training labels.
        reach: multiple of η to add; 0 adds none.

    Returns:
        (K,) t_c, at least 1 for a class with a label and 0 for one without.
    """
    counts = torch.bincount(data.labels, minlength=data.num_classes)
    wanted = reach * expansion(data.graph) * counts / len(data.labels)
    return wanted.long().clamp_min(1) * (counts > 0) * (reach > 0)


def most_confident(probabilities: Tensor, candidates: Tensor, counts: Tensor) -> Tensor:
    """The most confident candidates of each predicted class.

    Args:
        probabilities: (n, K).
        candidates: (u,) node numbers.
        counts: (K,) how many to take of each class.

    Returns:
        (t,) node numbers, class by class.

    >>> found = torch.tensor([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])
    >>> most_confident(found, torch.arange(3), torch.tensor([1, 1]))
    tensor([0, 2])
    """
    highest, predicted = probabilities[candidates].max(dim=1)
    order = highest.argsort(descending=True, stable=True)
    chosen = [order[predicted[order] == c][: int(count)] for c, count in enumerate(counts)]
    return candidates[torch.cat(chosen)]


def extended(data: TrainingData, nodes: Tensor, labels: Tensor) -> TrainingData:
    """The same data with more nodes to train on.

    Args:
        data: what to train on.
        nodes: (t,) nodes to add.
        labels: (t,) their classes.

    Returns:
        A copy.
    """
    return replace(data, train=torch.cat([data.train, nodes]), labels=torch.cat([data.labels, labels]))


def anew(method: NetworkClassifier, data: TrainingData, network: nn.Module) -> None:
    """Draw the first weights of a network again.

    Args:
        method: makes networks.
        data: whose generator of weights is used.
        network: changed in place.
    """
    network.load_state_dict(method.network(data).state_dict())
