"""The parts of a training, made from the parameters of NCGC and a graph: here "auto" becomes a number.

``parameters`` are those of :mod:`ncgc.params.parameter` by name, all of them, checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.losses import Objective, ObjectiveSettings
from ncgc.nn import SOGN
from ncgc.params.heuristics import (
    automatic_input_dropout,
    automatic_norm,
    automatic_relaxation,
    automatic_weight_decay,
)
from ncgc.training import BestValidation, Selection, StablePredictions, TrainerSettings
from ncgc.training.engines.partition import WHOLE, Share

SAME = (
    "hidden",
    "num_layers",
    "dropout",
    "node_dropout",
    "residual",
    "heads",
    "attention_dropout",
    "alpha",
    "theta",
    "steps",
)
LOSS = (
    "epsilon", "sinkhorn_iterations", "prior", "prior_momentum", "prior_shrinkage", "pseudo_label_scores",
    "warmup", "ramp",
)  # fmt: skip
TRAINING = (
    "learning_rate", "decay_on", "averaging", "schedule", "epochs", "pseudo_label_source", "teacher", "centroids",
)  # fmt: skip


def make_network(parameters: Mapping[str, Any], graph: Graph, generator: torch.Generator) -> SOGN:
    """The network for a graph's features and classes, its weights drawn from ``generator``."""
    density, dropped = graph.feature_density, parameters["input_dropout"]
    return SOGN(
        graph.num_features,
        graph.num_classes,
        parameters["backbone"],
        beta=parameters["beta"] if parameters["soft_orthogonality"] else 0.0,
        input_dropout=automatic_input_dropout(density) if isinstance(dropped, str) else dropped,
        norm=automatic_norm(density) if parameters["norm"] == "auto" else parameters["norm"],
        generator=generator,
        **_chosen(parameters, SAME),
    )


def make_objective(parameters: Mapping[str, Any], graph: Graph, split: Split, share: Share = WHOLE) -> Objective:
    """The losses over the nodes of a share; of the graph's labels they get those of the training nodes."""
    labels = split.training_labels(graph)  # -1 but on the training nodes: the only labels from here on
    auto = automatic_relaxation(len(split.train), graph.num_classes)
    given = parameters["relaxation"]
    train, labelled = share.local(split.train)
    unlabelled, _ = share.local(np.flatnonzero(labels < 0))
    return Objective(
        ObjectiveSettings(
            label_loss_weight=parameters["class_weight"],
            kl_weight=parameters["kl_weight"] if parameters["kl"] else 0.0,
            pl_weight=parameters["pl_weight"] if parameters["pl"] else 0.0,
            relaxation=auto if isinstance(given, str) else given,
            use_sinkhorn=parameters["sinkhorn"],
            **_chosen(parameters, LOSS),
        ),
        graph.num_classes,
        torch.from_numpy(train),
        torch.from_numpy(labels[split.train][labelled]),
        torch.from_numpy(unlabelled),
        share.reduction,
    )


def make_selection(parameters: Mapping[str, Any], graph: Graph, split: Split, share: Share = WHOLE) -> Selection:
    """When to stop and what to keep: by the validation labels, or without labels where there are none."""
    settled = parameters["warmup"] + parameters["ramp"] if (parameters["kl"] or parameters["pl"]) else 0
    if len(split.val):
        place, mine = share.local(split.val)
        index, labels = torch.from_numpy(place), torch.from_numpy(graph.labels[split.val][mine])
        first = settled if parameters["choose_from"] == "settled" else 0
        patience, weigh = parameters["patience"], parameters["weigh_validation"]
        return BestValidation(index, labels, patience, settled, weigh, first, share.reduction)
    return StablePredictions(parameters["patience"], settled, reduction=share.reduction)


def trainer_settings(parameters: Mapping[str, Any], graph: Graph) -> TrainerSettings:
    return TrainerSettings(weight_decay=weight_decay(parameters, graph), **_chosen(parameters, TRAINING))


def weight_decay(parameters: Mapping[str, Any], graph: Graph) -> float:
    given: float | str = parameters["weight_decay"]
    if isinstance(given, str):
        return automatic_weight_decay(float(graph.degrees.mean()), graph.feature_density)
    return given


def _chosen(parameters: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Those that a part takes under their own name, as they are."""
    return {name: parameters[name] for name in names}
