"""NetworkClassifier: what every method that trains a network by full-batch descent has in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.graph.features import ROWS, FeatureNormalizer
from ncgc.models.base import FitOptions, NodeClassifier, Prediction
from ncgc.nn import GraphOperators, Output
from ncgc.nn.weights import load_state, state_arrays
from ncgc.params.parameter import declared
from ncgc.training import Adam, KeepEpoch, LastEpoch, Stationary, StoppingRule, TrainingResult, Watcher
from ncgc.training.engines.full_batch import train_full_batch
from ncgc.training.engines.partition.label_blocks import LabelOperators
from ncgc.training.engines.partition.part_operators import Source


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a method trains on: the graph with scaled features, and of the labels the training nodes' alone.

    Attributes:
        graph: the graph; its labels are -1 but on the training nodes.
        operators: its features and propagation matrices as tensors.
        train, labels: (l,) training nodes and their classes.
        weights, drops: where first weights come from, and everything random in training.
        seed: for what takes a number and not a generator (k-means).
        watched: (m,) the nodes that the choice of an epoch looks at; their labels are not here.
        depth: how many edges away a node's logits see, or None for any number.
    """

    graph: Graph
    operators: GraphOperators
    train: Tensor
    labels: Tensor
    weights: torch.Generator
    drops: torch.Generator
    seed: int
    watched: Tensor
    depth: int | None = None

    @cached_property
    def around_train(self) -> GraphOperators:
        """What the logits of the training nodes depend on; the network says something of these alone, in their order."""
        return self._around(self.train)

    @cached_property
    def around_watched(self) -> GraphOperators:
        """The same of the watched nodes."""
        return self._around(self.watched)

    @property
    def seen(self) -> GraphOperators:
        """What a look goes through: all nodes, or what the watched ones depend on, if any."""
        return self.around_watched if self.depth is not None and len(self.watched) else self.operators

    def _around(self, nodes: Tensor) -> GraphOperators:
        assert self.depth is not None
        return LabelOperators(Source(self.graph, FeatureNormalizer("raw")), nodes.numpy(), self.depth)

    @property
    def num_classes(self) -> int:
        return self.graph.num_classes

    @property
    def num_features(self) -> int:
        return self.graph.num_features

    @property
    def unlabelled(self) -> Tensor:
        """(u,) all nodes but the training nodes."""
        return torch.from_numpy(np.flatnonzero(self.graph.labels < 0))


class NetworkClassifier(NodeClassifier):
    """A method with a network, a loss on it, and a rule for the epoch to keep.

    A simple one defines :meth:`network` alone; :meth:`loss`, :meth:`groups` and :meth:`train` are there to be replaced. The
    network is called as ``network(operators, generator)`` and returns an :class:`ncgc.nn.Output` for all nodes; it drops
    in training mode, with the generator it is given, so that nothing global is drawn from.
    """

    inductive = True

    hidden: int = declared(64, "width of the hidden layers", low=1)
    dropout: float = declared(0.5, "dropout", low=0, high=1, open_high=True)
    learning_rate: float = declared(0.01, "step size of Adam", low=0, open_low=True)
    weight_decay: float = declared(5e-4, "L2 penalty of Adam", low=0)
    epochs: int = declared(200, "most epochs to train", low=1)
    patience: int | None = declared(
        100,
        "epochs without gain before stopping; without validation nodes, between looks",
        kind=int,
        low=1,
        optional=True,
    )
    features: str = declared(
        "row", "features as they are, or each row divided by its sum, its length, …", choices=tuple(ROWS)
    )

    keep: ClassVar[str] = "loss"  # a rule of ncgc.training.KeepEpoch
    keep_options: ClassVar[dict[str, Any]] = {}  # its window and the like

    # ---------------------------------------------------------------- what a method defines

    def network(self, data: TrainingData) -> nn.Module:
        """A network with its first weights drawn from ``data.weights``."""
        raise TypeError(f"{type(self).__name__} must define network(data).")

    def depth(self) -> int | None:
        """How many layers let a node see its neighbours, if it sees no further and no sum over all nodes.

        A network that takes layer i's matrices from ``operators.of_layer(i)`` is then trained on what the labelled nodes
        depend on, and looked at on what the validation nodes depend on: the same loss and gradient for less.
        """
        return None

    def pause(self) -> int | None:
        """Without validation nodes, the epochs between two looks at the predictions; None: all epochs, the last is kept."""
        return self.patience

    def loss(self, data: TrainingData, network: nn.Module, epoch: int) -> Tensor | dict[str, Tensor]:
        """Of an epoch counted from 1: the cross-entropy on the training nodes."""
        if data.depth is not None:
            return cross_entropy(network(data.around_train, data.drops).logits, data.labels)
        logits = network(data.operators, data.drops).logits
        return cross_entropy(logits[data.train], data.labels)

    def groups(self, network: nn.Module) -> list[dict[str, Any]]:
        """Adam's groups: what decays and what does not. Everything decays unless said otherwise."""
        return [{"params": list(network.parameters()), "weight_decay": self.weight_decay}]

    def train(
        self, data: TrainingData, network: nn.Module, stopping: StoppingRule, watch: Watcher | None
    ) -> TrainingResult:
        """All of training; the best weights are in the network afterwards."""
        optimizer = Adam(self.groups(network), lr=self.learning_rate, fused=True)

        def evaluate() -> Tensor:
            logits: Tensor = network(data.seen, None).logits
            return logits

        return train_full_batch(
            network, optimizer, lambda epoch: self.loss(data, network, epoch), evaluate, stopping, self.epochs, watch
        )

    def infer(self, network: nn.Module, operators: GraphOperators) -> Output:
        """Embeddings and logits of all nodes of a graph, in evaluation mode and without gradients."""
        output: Output = network(operators, None)
        return output

    # ---------------------------------------------------------------- the rest is the same for all

    def stopping_rule(self, graph: Graph, split: Split) -> StoppingRule:
        """The rule of this method on the validation nodes; where there are none, the last epoch.

        Where there is a :meth:`pause`, training then stops where it only wanders (:class:`ncgc.training.Stationary`).
        """
        return self.stopping_rule_by(self.keep, graph, split, **self.keep_options)

    def stopping_rule_by(self, rule: str, graph: Graph, split: Split, **options: Any) -> StoppingRule:
        """The same with a rule of :class:`ncgc.training.KeepEpoch` and its options."""
        if not len(split.val):
            pause = self.pause()
            if pause is None:
                return LastEpoch()
            train = torch.from_numpy(split.train)
            return Stationary(train, torch.from_numpy(graph.labels[split.train]), pause)
        index, labels = torch.from_numpy(split.val), torch.from_numpy(graph.labels[split.val])
        if self.depth() is not None:
            index = torch.arange(len(index))  # these alone are looked at
        return KeepEpoch(rule, index, labels, self.patience, **options)

    def training_data(self, graph: Graph, split: Split) -> TrainingData:
        """What training gets of a graph and a split. Sets ``normalizer_``."""
        seeds = np.random.SeedSequence(self.random_state).generate_state(3).tolist()
        labels = split.training_labels(graph)
        self.normalizer_ = FeatureNormalizer.fit(graph, self.features)
        scaled = self.normalizer_.apply(graph).with_labels(labels)
        return TrainingData(
            scaled,
            GraphOperators(scaled),
            torch.from_numpy(split.train),
            torch.from_numpy(labels[split.train]),
            torch.Generator().manual_seed(seeds[0]),
            torch.Generator().manual_seed(seeds[1]),
            int(seeds[2]),
            torch.from_numpy(split.val),
            self.depth(),
        )

    def _solve(self, graph: Graph, split: Split, options: FitOptions) -> Prediction:
        data = self.training_data(graph, split)
        network = self.network(data)
        ended = self.train(data, network, self.stopping_rule(graph, split), options.watch)
        self.network_ = network
        return self._evaluate(
            data.operators, history=ended.history, best_epoch=ended.best_epoch, termination=ended.termination
        )

    def _predict_other(self, graph: Graph) -> Prediction:
        return self._evaluate(GraphOperators(self.normalizer_.apply(graph)))

    def _evaluate(self, operators: GraphOperators, **rest: Any) -> Prediction:
        """What the trained network says of a graph with scaled features."""
        with torch.no_grad():
            output = self.infer(self.network_.eval(), operators)
        return Prediction(output.logits.double().numpy(), output.embeddings.numpy(), **rest)

    def _arrays(self) -> dict[str, np.ndarray]:
        return state_arrays(self.network_)

    def _restore(self, graph: Graph, split: Split, arrays: dict[str, np.ndarray], details: Mapping[str, Any]) -> None:
        sizes = {size for array in arrays.values() for size in array.shape}
        for name, known in (("hidden", sizes), ("num_layers", range(len(arrays) + 1))):
            value = self.get_params().get(name)
            if value is not None and value not in known:  # before anything is allocated by a number in a file
                raise ValueError(f"weights.safetensors does not fit a network with {name} {value}")
        self.network_ = self.network(self.training_data(graph, split))
        load_state(self.network_, arrays)
