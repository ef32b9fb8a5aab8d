"""Placement: where a training runs. One process has the whole graph; several have some of its rows each.

Full batch and partitions are two engines; one process or several is a choice that both of them take.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch

from ncgc.graph import Graph
from ncgc.graph.features import FeatureNormalizer
from ncgc.nn import BACKBONES, SOGN, GraphOperators, Output
from ncgc.training.checkpoint import Peers, Single
from ncgc.training.engines.full_batch import FullBatch, evaluate_graph, ncgc_full_batch
from ncgc.training.engines.partition.engine import LocalLayout, Partition, check_trains
from ncgc.training.engines.partition.halo import WHOLE, Ownership
from ncgc.training.engines.partition.inference import evaluate_by_rows
from ncgc.training.engines.partition.part_operators import PartSource
from ncgc.training.history import Watcher
from ncgc.training.learner import Learner


class Placement(Protocol):
    """Where NCGC trains: what this process has of the graph, and how its results become those of all processes.

    Attributes:
        ownership: the nodes of this process, and how sums over them become sums over all.
        peers: the processes that write checkpoints together.
        complete: whether this process ends with the output of all nodes.
        ids: (m,) the numbers of this process's nodes.
    """

    ownership: Ownership
    peers: Peers
    complete: bool

    @property
    def ids(self) -> torch.Tensor:
        """(m,) numbers of this process's nodes."""

    def seeds(self, drawn: np.ndarray) -> list[int]:
        """Make the random seeds equal in every process.

        Args:
            drawn: (k,) seeds that this process drew.

        Returns:
            The k seeds to use.
        """

    def place(self, graph: Graph, parameters: dict[str, Any]) -> FeatureNormalizer:
        """Prepare the graph; called first.

        Args:
            graph: to train on.
            parameters: of NCGC, all of them, checked.

        Returns:
            How the features are normalised.

        Raises:
            ParameterError: for parameters that do not train here.
        """

    def engine(self, learner: Learner, seed: int) -> FullBatch | Partition:
        """The engine that trains a learner.

        Args:
            learner: with NCGC's self-supervision.
            seed: of the dropout.

        Returns:
            The engine, full-batch or by partitions as the parameters require.
        """

    def watching(self, watch: Watcher | None) -> Watcher | None:
        """The watcher to call after every epoch.

        Args:
            watch: the user's.

        Returns:
            That watcher, or one that also measures communication and then calls it.
        """

    def output(self, network: SOGN) -> Output:
        """The evaluation pass over all nodes, after training.

        Args:
            network: trained.

        Returns:
            (n, d) embeddings and (n, K) logits, where this process is ``complete``.
        """

    def finish(self) -> Any:
        """What training cost, where that is measured."""


class OneProcess:
    """The whole graph in this process; see :class:`Placement`."""

    ownership: Ownership = WHOLE
    complete: bool = True

    def __init__(self) -> None:
        self.peers: Peers = Single()

    @property
    def ids(self) -> torch.Tensor:
        return torch.arange(self.graph.num_nodes)

    def seeds(self, drawn: np.ndarray) -> list[int]:
        found: list[int] = drawn.tolist()
        return found

    def place(self, graph: Graph, parameters: dict[str, Any]) -> FeatureNormalizer:
        if parameters["batch"] == "partitions":
            check_trains(parameters, "by parts", BACKBONES, ", or batch='full'")
        self.graph, self.parameters = graph, parameters
        self.normalizer = FeatureNormalizer.fit(graph, parameters["features"])
        return self.normalizer

    def engine(self, learner: Learner, seed: int) -> FullBatch | Partition:
        if self.parameters["batch"] == "full":
            self._operators = GraphOperators(self.normalizer.apply(self.graph))
            return ncgc_full_batch(learner, self._operators, torch.Generator().manual_seed(seed))
        self._source = PartSource(self.graph, self.normalizer)
        layout = LocalLayout(self._source, learner, self.parameters["parts"], self.parameters["halo"])
        return Partition(learner, layout, self.parameters["steps_per_epoch"], seed)

    def watching(self, watch: Watcher | None) -> Watcher | None:
        return watch

    def output(self, network: SOGN) -> Output:
        if self.parameters["batch"] == "partitions":
            return evaluate_by_rows(network, self._source)
        with torch.no_grad():
            output: Output = network.eval()(self._operators)
        return output

    def finish(self) -> None:
        return None


def evaluate(network: SOGN, graph: Graph, normalizer: FeatureNormalizer, batch: str) -> Output:
    """The evaluation pass of a trained network over any graph, as its engine makes it: after loading, on other graphs.

    Args:
        network: trained.
        graph: with features that are not normalised yet.
        normalizer: of the fitted graph.
        batch: "full" or "partitions", as the network was trained.

    Returns:
        (n, d) embeddings and (n, K) logits.
    """
    if batch == "partitions":
        return evaluate_by_rows(network, PartSource(graph, normalizer))
    return evaluate_graph(network, graph, normalizer)
