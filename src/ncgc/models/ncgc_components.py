"""The components of NCGC, made from its parameters and a graph: here "auto" becomes a number.

``parameters`` are those of :mod:`ncgc.params.ncgc` by name, all of them, checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.losses import Objective, ObjectiveSettings
from ncgc.nn import SOGN
from ncgc.nn.weights import load_state
from ncgc.params.heuristics import (
    automatic_input_dropout,
    automatic_norm,
    automatic_relaxation,
    automatic_weight_decay,
)
from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.params.parameter import check_parameters
from ncgc.training import Adam, BestValidation, StablePredictions, StoppingRule
from ncgc.training.engines.partition import WHOLE, Ownership
from ncgc.training.learner import Learner, SelfSupervision

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
    "label_loss_weight", "epsilon", "sinkhorn_iterations", "prior", "prior_momentum", "prior_shrinkage", "pseudo_label_scores",
    "warmup", "ramp",
)  # fmt: skip


def make_network(parameters: Mapping[str, Any], graph: Graph, generator: torch.Generator) -> SOGN:
    """Build the network for a graph.

    Args:
        parameters: of NCGC.
        graph: whose numbers of features and classes, and density, decide its shape.
        generator: of its first weights.

    Returns:
        The network.
    """
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


def make_objective(
    parameters: Mapping[str, Any], graph: Graph, split: Split, ownership: Ownership = WHOLE
) -> Objective:
    """Build the losses over the nodes of this process; they get no label but those of the training nodes.

    Args:
        parameters: of NCGC.
        graph: with all its labels.
        split: which nodes train.
        ownership: the nodes of this process.

    Returns:
        The objective.
    """
    labels = split.training_labels(graph)  # -1 but on the training nodes: the only labels from here on
    auto = automatic_relaxation(len(split.train), graph.num_classes)
    given = parameters["relaxation"]
    train, labelled = ownership.local(split.train)
    unlabelled, _ = ownership.local(np.flatnonzero(labels < 0))
    return Objective(
        ObjectiveSettings(
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
        ownership.reduction,
    )


def make_stopping(
    parameters: Mapping[str, Any], graph: Graph, split: Split, ownership: Ownership = WHOLE
) -> StoppingRule:
    """Build the stopping rule: by the validation labels, or without labels where there are none.

    Args:
        parameters: of NCGC.
        graph: with the labels of the validation nodes.
        split: which nodes validate.
        ownership: the nodes of this process.

    Returns:
        :class:`BestValidation` or :class:`StablePredictions`.
    """
    settled = parameters["warmup"] + parameters["ramp"] if (parameters["kl"] or parameters["pl"]) else 0
    if len(split.val):
        place, mine = ownership.local(split.val)
        index, labels = torch.from_numpy(place), torch.from_numpy(graph.labels[split.val][mine])
        first = settled if parameters["choose_from"] == "settled" else 0
        patience, weigh = parameters["patience"], parameters["weigh_validation"]
        return BestValidation(index, labels, patience, settled, weigh, first, ownership.reduction)
    return StablePredictions(parameters["patience"], settled, reduction=ownership.reduction)


def make_learner(
    parameters: Mapping[str, Any], graph: Graph, network: SOGN, objective: Objective, centroid_seed: int
) -> Learner:
    """The weights in training: the network with Adam, its averages, and what self-supervision remembers.

    Args:
        parameters: of NCGC.
        graph: whose size and density decide the weight decay where that is "auto".
        network: to train.
        objective: its losses.
        centroid_seed: of the centroids' start.

    Returns:
        The learner.
    """
    groups = parameter_groups(network, weight_decay(parameters, graph), parameters["decay_on"])
    return Learner(
        network,
        Adam(groups, lr=parameters["learning_rate"], fused=True),
        averaging=parameters["averaging"],
        schedule=parameters["schedule"],
        epochs=parameters["epochs"],
        supervision=SelfSupervision(
            objective,
            teacher=parameters["teacher"],
            source=parameters["pseudo_label_source"],
            centroids=parameters["centroids"],
            seed=int(centroid_seed),
        ),
        reduction=objective.reduction,
    )


def parameter_groups(network: SOGN, decay: float, decay_on: str) -> list[dict[str, Any]]:
    """Adam's parameter groups.

    Args:
        network: to train.
        decay: the L2 penalty.
        decay_on: "all" weights, or those of the "first" layer.

    Returns:
        The group that decays and, with "first", the group that does not.
    """
    parameters = dict(network.named_parameters())
    if decay_on == "all":
        return [{"params": list(parameters.values()), "weight_decay": decay}]
    first = {name for name in parameters if name.startswith(("entry", "convs.0."))}
    return [
        {"params": [parameters[name] for name in parameters if name in first], "weight_decay": decay},
        {"params": [parameters[name] for name in parameters if name not in first], "weight_decay": 0.0},
    ]


def weight_decay(parameters: Mapping[str, Any], graph: Graph) -> float:
    """The weight decay for a graph.

    Args:
        parameters: of NCGC.
        graph: whose mean degree and density decide where the parameter is "auto".

    Returns:
        The L2 penalty.
    """
    given: float | str = parameters["weight_decay"]
    if isinstance(given, str):
        return automatic_weight_decay(float(graph.degrees.mean()), graph.feature_density)
    return given


def _chosen(parameters: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Those that a part takes under their own name, as they are."""
    return {name: parameters[name] for name in names}


# -------------------------------------------------------------------- the network in a model file

KEPT = ("backbone", "hidden", "beta", "dropout", "input_dropout", "node_dropout", "heads", "attention_dropout",
        "alpha", "theta", "steps")  # fmt: skip
NORMS: dict[type[nn.Module], str] = {nn.LayerNorm: "layer", nn.BatchNorm1d: "batch"}


def network_description(network: SOGN) -> dict[str, Any]:
    """What a network was built with, "auto" decided: a rule may change in a later version, a trained network does not.

    Args:
        network: whose backbone has a name.

    Returns:
        Its hyper-parameters as JSON takes them.
    """
    values = {name: getattr(network, name) for name in KEPT}
    return {
        **{name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()},
        "num_layers": len(network.convs),
        "norm": None if network.norms is None else NORMS[type(network.norms[0])],
        "residual": network.residuals is not None,
    }


def restored_network(
    description: Mapping[str, Any], arrays: Mapping[str, np.ndarray], in_features: int, num_classes: int
) -> SOGN:
    """The trained network of a model file.

    Args:
        description: what :func:`network_description` gave.
        arrays: its weights by name.
        in_features: number D of features.
        num_classes: number K of classes.

    Returns:
        The network, in evaluation mode.

    Raises:
        ValueError: where description and arrays do not fit each other.
    """
    names = (*KEPT, "num_layers", "norm", "residual")
    missing = [name for name in names if name not in description]
    if missing:
        raise ValueError(f"model.json, 'network', has no {missing[0]!r}")
    values = {name: description[name] for name in names}
    check_parameters(values, "the network", NCGC_PARAMETERS)
    # before anything is allocated by a number in a file: are there tensors of that size?
    sizes = {size for array in arrays.values() for size in array.shape}
    prototypes = arrays.get("prototypes", np.zeros(()))
    fits = prototypes.shape == (values["hidden"], num_classes) and in_features in sizes
    if not fits or values["num_layers"] > len(arrays):
        raise ValueError(
            f"weights.safetensors does not fit a network of {values['num_layers']} × {values['hidden']} for {in_features} "
            f"features and {num_classes} classes"
        )
    try:
        network = SOGN(in_features, num_classes, **values, generator=torch.Generator().manual_seed(0))
    except (ValueError, RuntimeError, MemoryError) as error:
        raise ValueError(f"its network cannot be built ({str(error).splitlines()[0]})") from None
    load_state(network, arrays)
    return network.eval()
