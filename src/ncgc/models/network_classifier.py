"""NetworkClassifier: the base of every method that trains a network on the whole graph at once."""

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
from ncgc.training.engines.partition.part_operators import PartSource


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a method trains on: the graph with normalised features, and of the labels those of the training nodes alone.

    Attributes:
        graph: the graph; its labels are -1 but on the training nodes.
        operators: its features and propagation matrices as tensors.
        train: (l,) training nodes.
        labels: (l,) their classes.
        weights: the generator of the first weights.
        drops: the generator of everything random in training.
        seed: for what takes a number and not a generator (k-means).
        watched: (m,) the validation nodes, on which an epoch is chosen; their labels are not here.
        depth: how many edges away the receptive field of a node ends, or None for no limit.
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
        """The receptive field of the training nodes; a pass over it gives their logits alone, in their order."""
        return self._around(self.train)

    @cached_property
    def around_watched(self) -> GraphOperators:
        """The receptive field of the validation nodes."""
        return self._around(self.watched)

    @property
    def seen(self) -> GraphOperators:
        """Operators of an evaluation pass: the receptive field of the validation nodes if limited, else all nodes."""
        return self.around_watched if self.depth is not None and len(self.watched) else self.operators

    def _around(self, nodes: Tensor) -> GraphOperators:
        assert self.depth is not None
        return LabelOperators(PartSource(self.graph, FeatureNormalizer("raw")), nodes.numpy(), self.depth)

    @property
    def num_classes(self) -> int:
        """Number K of classes."""
        return self.graph.num_classes

    @property
    def num_features(self) -> int:
        """Number D of feature columns."""
        return self.graph.num_features

    @property
    def unlabelled(self) -> Tensor:
        """(u,) all nodes but the training nodes."""
        return torch.from_numpy(np.flatnonzero(self.graph.labels < 0))


class NetworkClassifier(NodeClassifier):
    """A method with a network, a loss on it, and a rule for the epoch to keep.

    A simple one defines :meth:`network` alone; :meth:`loss`, :meth:`groups` and :meth:`train` may be overridden. The
    network is called as ``network(operators, generator)`` and returns an :class:`ncgc.nn.Output` for all nodes. In
    training mode it draws its dropout from that generator, so that the global one is never used.

    Class attributes:
        keep: the rule for the epoch to keep, of :class:`ncgc.training.KeepEpoch`. keep_options: its window and the
            like.
    """

    inductive = True

    hidden: int = declared(64, "width of the hidden layers", low=1)
    dropout: float = declared(0.5, "dropout", low=0, high=1, open_high=True)
    learning_rate: float = declared(0.01, "step size of Adam", low=0, open_low=True)
    weight_decay: float = declared(5e-4, "L2 penalty of Adam", low=0)
    epochs: int = declared(200, "most epochs to train", low=1)
    patience: int | None = declared(
        100,
        "epochs without gain before stopping; without validation nodes, between evaluations",
        kind=int,
        low=1,
        optional=True,
    )
    features: str = declared(
        "row", "features as they are, or each row divided by its sum, its length, …", choices=tuple(ROWS)
    )

    keep: ClassVar[str] = "loss"
    keep_options: ClassVar[dict[str, Any]] = {}

    # ---------------------------------------------------------------- what a method defines

    def network(self, data: TrainingData) -> nn.Module:
        """Make the network.

        Args:
            data: what it will be trained on.

        Returns:
            A network with its first weights drawn from ``data.weights``.
        """
        raise TypeError(f"{type(self).__name__} must define network(data).")

    def depth(self) -> int | None:
        """How many layers let a node see its neighbours; None for a network that sees further, or a sum over all nodes.

        A network that takes layer i's matrices from ``operators.of_layer(i)`` is then trained on the receptive field of
        the training nodes and evaluated on that of the validation nodes: the same loss and gradient for less work.
        """
        return None

    def evaluation_interval(self) -> int | None:
        """Without validation nodes, the epochs between two evaluations; None: train all epochs and keep the last."""
        return self.patience

    def loss(self, data: TrainingData, network: nn.Module, epoch: int) -> Tensor | dict[str, Tensor]:
        """The loss of an epoch: the cross-entropy on the training nodes unless a method overrides it.

        Args:
            data: what to train on.
            network: in training mode.
            epoch: counted from 1.

        Returns:
            One number, or named parts that are summed.
        """
        if data.depth is not None:
            return cross_entropy(network(data.around_train, data.drops).logits, data.labels)
        logits = network(data.operators, data.drops).logits
        return cross_entropy(logits[data.train], data.labels)

    def groups(self, network: nn.Module) -> list[dict[str, Any]]:
        """Adam's parameter groups; all weights decay unless a method overrides this.

        Args:
            network: to train.

        Returns:
            The groups, each with its ``weight_decay``.
        """
        return [{"params": list(network.parameters()), "weight_decay": self.weight_decay}]

    def train(
        self, data: TrainingData, network: nn.Module, stopping: StoppingRule, watch: Watcher | None
    ) -> TrainingResult:
        """Train the network; the best weights are in it afterwards.

        Args:
            data: what to train on.
            network: with its first weights.
            stopping: decides what to keep and when to stop.
            watch: called after each epoch.

        Returns:
            How training went.
        """
        optimizer = Adam(self.groups(network), lr=self.learning_rate, fused=True)

        def evaluate() -> Tensor:
            logits: Tensor = network(data.seen, None).logits
            return logits

        return train_full_batch(
            network, optimizer, lambda epoch: self.loss(data, network, epoch), evaluate, stopping, self.epochs, watch
        )

    def infer(self, network: nn.Module, operators: GraphOperators) -> Output:
        """Embeddings and logits of all nodes; called in evaluation mode without gradients.

        Args:
            network: trained.
            operators: of a graph with normalised features.

        Returns:
            (n, d) embeddings and (n, K) logits.
        """
        output: Output = network(operators, None)
        return output

    # ---------------------------------------------------------------- the rest is the same for all

    def stopping_rule(self, graph: Graph, split: Split) -> StoppingRule:
        """When to stop and what to keep: by the validation nodes, or by a rule without labels where there are none.

        Args:
            graph: with the labels of the validation nodes, which the rule alone sees.
            split: which nodes train and validate.

        Returns:
            This method's rule; without validation nodes :class:`ncgc.training.Stationary`, or the last epoch where
            there is no :meth:`evaluation_interval`.
        """
        return self.stopping_rule_by(self.keep, graph, split, **self.keep_options)

    def stopping_rule_by(self, rule: str, graph: Graph, split: Split, **options: Any) -> StoppingRule:
        """:meth:`stopping_rule` with a given rule of :class:`ncgc.training.KeepEpoch`.

        Args:
            rule: one of :data:`ncgc.training.stopping.RULES`.
            graph, split: as there.
            options: of the rule.

        Returns:
            The stopping rule.
        """
        if not len(split.val):
            interval = self.evaluation_interval()
            if interval is None:
                return LastEpoch()
            train = torch.from_numpy(split.train)
            return Stationary(train, torch.from_numpy(graph.labels[split.train]), interval)
        index, labels = torch.from_numpy(split.val), torch.from_numpy(graph.labels[split.val])
        if self.depth() is not None:
            index = torch.arange(len(index))  # these alone are evaluated
        return KeepEpoch(rule, index, labels, self.patience, **options)

    def training_data(self, graph: Graph, split: Split) -> TrainingData:
        """What training gets of a graph and a split. Sets ``normalizer_``.

        Args:
            graph: with all its labels.
            split: which nodes train and validate.

        Returns:
            The graph with normalised features and the training labels alone, and generators seeded by ``random_state``.
        """
        seeds = np.random.SeedSequence(self.random_state).generate_state(3).tolist()
        labels = split.training_labels(graph)
        self.normalizer_ = FeatureNormalizer.fit(graph, self.features)
        normalised = self.normalizer_.apply(graph).with_labels(labels)
        return TrainingData(
            normalised,
            GraphOperators(normalised),
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
        """The prediction of the trained network for a graph with normalised features."""
        with torch.no_grad():
            output = self.infer(self.network_.eval(), operators)
        return Prediction(output.logits.double().numpy(), output.embeddings.numpy(), **rest)

    def _arrays(self) -> dict[str, np.ndarray]:
        return state_arrays(self.network_)

    def _restore(self, graph: Graph, split: Split, arrays: dict[str, np.ndarray], details: Mapping[str, Any]) -> None:
        sizes = {size for array in arrays.values() for size in array.shape}
        for name, known in (("hidden", sizes), ("num_layers", {*range(len(arrays) + 1), *sizes})):
            value = self.get_params().get(name)
            if value is not None and value not in known:  # before anything is allocated by a number in a file
                raise ValueError(f"weights.safetensors does not fit a network with {name} {value}")
        self.network_ = self.network(self.training_data(graph, split))
        load_state(self.network_, arrays)
