"""The tensors of a trained network as arrays, and back into one of the same shape."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import nn


def state_arrays(network: nn.Module) -> dict[str, np.ndarray]:
    """Every weight and buffer under its name in the network.

    >>> sorted(state_arrays(nn.Linear(2, 3)))
    ['bias', 'weight']
    """
    state = network.state_dict()
    return {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in state.items()}


def load_state(network: nn.Module, arrays: Mapping[str, np.ndarray]) -> None:
    """Give the network what :func:`state_arrays` took; a ValueError says which tensor does not fit."""
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
