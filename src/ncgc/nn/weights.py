"""Weights of a network: how they begin, and how they become arrays and come back."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import nn


def glorot(rows: int, columns: int, generator: torch.Generator | None) -> nn.Parameter:
    """Weights uniform in ±√(6/(rows+columns)), PyG's start of a convolution (Glorot and Bengio, 2010).

    Args:
        rows: input width.
        columns: output width.
        generator: source of the draw; torch's global one if None.

    Returns:
        (rows, columns) parameter.
    """
    return _uniform((rows, columns), math.sqrt(6.0 / max(rows + columns, 1)), generator)


def fan_in(rows: int, columns: int, generator: torch.Generator | None) -> nn.Parameter:
    """Weights uniform in ±1/√rows, torch's start of a linear map.

    Args:
        rows: input width.
        columns: output width.
        generator: source of the draw; torch's global one if None.

    Returns:
        (rows, columns) parameter.
    """
    return _uniform((rows, columns), 1.0 / math.sqrt(max(rows, 1)), generator)


def _uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator | None) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))


def state_arrays(network: nn.Module) -> dict[str, np.ndarray]:
    """Every weight and buffer of a network as an array.

    Args:
        network: any module.

    Returns:
        The arrays, under their names in ``state_dict``.

    >>> sorted(state_arrays(nn.Linear(2, 3)))
    ['bias', 'weight']
    """
    state = network.state_dict()
    return {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in state.items()}


def load_state(network: nn.Module, arrays: Mapping[str, np.ndarray]) -> None:
    """Set every weight and buffer of a network from arrays.

    Args:
        network: changed in place.
        arrays: result of :func:`state_arrays` of a network of the same shape.

    Raises:
        ValueError: names the tensor that is missing, unknown or of another type or shape.
    """
    expected = network.state_dict()
    for name in sorted(expected.keys() | arrays.keys()):
        if name not in arrays or name not in expected:
            raise ValueError(f"weights.safetensors has {'a strange' if name in arrays else 'no'} tensor {name!r}")
        array, tensor = arrays[name], expected[name]
        if array.shape != tuple(tensor.shape) or torch.from_numpy(array.copy()).dtype != tensor.dtype:
            raise ValueError(
                f"the tensor {name!r} has the type {array.dtype} and the shape {array.shape}, and the network needs "
                f"{tensor.dtype} of the shape {tuple(tensor.shape)}"
            )
    network.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in arrays.items()})
