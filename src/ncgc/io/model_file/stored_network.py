"""A trained network as its dimensions and its tensors, and back, both checked against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from ncgc.errors import ParameterError
from ncgc.io.model_file.sealed import Damage, Record, plain
from ncgc.nn import SOGN
from ncgc.nn.weights import load_state, state_arrays
from ncgc.params.parameter import check_parameters

PREFIX = "network."
KEPT = ("backbone", "hidden", "beta", "dropout", "input_dropout", "node_dropout", "heads", "attention_dropout",
        "alpha", "theta", "steps")  # fmt: skip
NORMS: dict[type[nn.Module], str] = {nn.LayerNorm: "layer", nn.BatchNorm1d: "batch"}


def network_facts(network: SOGN) -> dict[str, Any]:
    """What the network was built with, "auto" decided: a rule may change in a later version, a trained network does not."""
    return {
        **{name: plain(getattr(network, name)) for name in KEPT},
        "num_layers": len(network.convs),
        "norm": None if network.norms is None else NORMS[type(network.norms[0])],
        "residual": network.residuals is not None,
    }


def network_arrays(network: SOGN) -> dict[str, np.ndarray]:
    """Every weight under its name in the network."""
    return {PREFIX + name: array for name, array in state_arrays(network).items()}


def stored_network(facts: Record, arrays: dict[str, np.ndarray], in_features: int, num_classes: int) -> SOGN:
    """The network that the two functions above were given; Damage where facts and arrays do not fit each other."""
    found = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
    values = {name: facts(name, int, float, str, bool, None) for name in (*KEPT, "num_layers", "norm", "residual")}
    try:
        check_parameters(values, "the network")
    except ParameterError as error:
        raise Damage(str(error).rstrip(".")) from None
    _check_sizes(values, found, in_features, num_classes)
    try:
        network = SOGN(in_features, num_classes, **values, generator=torch.Generator().manual_seed(0))
    except (ValueError, RuntimeError, MemoryError) as error:
        raise Damage(f"its network cannot be built ({str(error).splitlines()[0]})") from None
    try:
        load_state(network, found)
    except ValueError as error:
        raise Damage(str(error)) from None
    return network.eval()


def _check_sizes(values: dict[str, Any], found: dict[str, np.ndarray], in_features: int, num_classes: int) -> None:
    """Before anything is allocated by a number in a file: are there tensors of that size?"""
    prototypes = found.get("prototypes", np.zeros(()))
    sizes = {size for array in found.values() for size in array.shape}
    if (
        prototypes.shape != (values["hidden"], num_classes)
        or in_features not in sizes
        or values["num_layers"] > len(found)
    ):
        raise Damage(
            f"weights.safetensors does not fit a network of {values['num_layers']} × {values['hidden']} for {in_features} "
            f"features and {num_classes} classes"
        )
