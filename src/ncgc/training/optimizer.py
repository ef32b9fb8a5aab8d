"""Adam, torch's own, that does not bring torch's compiler in; and the size of its steps over the epochs.

The methods of torch's optimizers are wrapped for `torch.compile`: the first call imports `torch._dynamo` with all that it needs,
which takes longer than many a training on a small graph. Nothing is compiled here, so the functions underneath are called. Where
another version of torch wraps them otherwise, its methods are taken as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import unwrap
from typing import Any

import torch


def _plain(name: str) -> Callable[..., Any]:
    method: Callable[..., Any] = unwrap(getattr(torch.optim.Adam, name))
    return method


class Adam(torch.optim.Adam):
    """``torch.optim.Adam`` with the same numbers, to the bit.

    >>> weight = torch.nn.Parameter(torch.ones(2))
    >>> optimizer = Adam([weight], lr=0.5)
    >>> weight.sum().backward()
    >>> optimizer.step(); weight.data
    tensor([0.5000, 0.5000])
    """

    step = torch.no_grad()(_plain("step"))  # the wrapped one switches gradients off too
    zero_grad = _plain("zero_grad")
    add_param_group = _plain("add_param_group")
    state_dict = _plain("state_dict")
    load_state_dict = _plain("load_state_dict")


def step_size(schedule: str, epoch: int, epochs: int) -> float:
    """The size of a step as a fraction of the learning rate.

    Args:
        schedule: "constant", or half a cosine down to nearly 0: over all epochs ("cosine") or the last third ("late").
        epoch: counted from 1.
        epochs: how many there are.

    Returns:
        A fraction from 0 to 1.

    >>> step_size("late", 20, 30), round(step_size("late", 26, 30), 2), round(step_size("cosine", 16, 30), 2)
    (1.0, 0.5, 0.5)
    """
    if schedule == "constant":
        return 1.0
    start = 2 * epochs // 3 if schedule == "late" else 0
    return 0.5 * (1 + math.cos(math.pi * max(epoch - 1 - start, 0) / (epochs - start)))
