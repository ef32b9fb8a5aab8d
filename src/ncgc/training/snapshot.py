"""Snapshot: all that a Trainer would need to go on as if nothing had happened, taken between two epochs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor

from ncgc.errors import CheckpointError
from ncgc.training.history import History
from ncgc.training.stopping import Resumable
from ncgc.training.trainer import Trainer


@dataclass
class Snapshot:
    """The state after an epoch.

    Attributes:
        epoch: how many are done.
        tensors: what is the same in every process: weights, Adam's moments, centroids, the best weights, averages.
        rows: what is known of every node, (m, …) for the m of this process: averaged predictions, the anchor of a window.
        values: numbers and lists: the history, what stopping remembers, counters.
    """

    epoch: int
    tensors: dict[str, Tensor] = field(default_factory=dict)
    rows: dict[str, Tensor] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


def take(trainer: Trainer) -> Snapshot:
    """The state of a trainer; tensors are those of the trainer, not copies: write them before the next epoch."""
    tensors = _prefixed("network", trainer.network.state_dict()) | _prefixed("best", trainer.best)
    tensors |= _prefixed("objective", trainer.objective.state_dict()) | _prefixed("more", trainer.more_state())
    stopping = cast(Resumable, trainer.stopping)
    rows = _prefixed("stopping", stopping.rows())
    values: dict[str, Any] = {
        "history": trainer.history.rows,
        "stopping": stopping.state(),
        "best_epoch": trainer.best_epoch,
        "seconds": trainer.spent,
    }
    if trainer.centroids is not None:
        tensors["centroids"] = trainer.centroids.detach()
    for number, moments in trainer.optimizer.state_dict()["state"].items():
        tensors |= _prefixed(f"adam.{number}", moments)
    if trainer.average is not None:
        tensors |= _prefixed("average", trainer.average.weights)
        values["average_steps"] = trainer.average.steps
    if trainer.teacher is not None and trainer.teacher.epochs:
        rows["teacher"], values["teacher_epochs"] = trainer.teacher.mean, trainer.teacher.epochs
    elif trainer.clean is not None:
        rows["clean"] = trainer.clean
    if isinstance(trainer.dropout_generator, torch.Generator):
        tensors["generator"] = trainer.dropout_generator.get_state()
    return Snapshot(trainer.done, tensors, rows, values)


def put(trainer: Trainer, snapshot: Snapshot) -> None:
    """Bring a trainer that has not begun to the state of a snapshot."""
    tensors, rows, values = snapshot.tensors, snapshot.rows, snapshot.values
    try:
        trainer.network.load_state_dict(_under(tensors, "network"))
        trainer.best, trainer.best_epoch = _under(tensors, "best"), values["best_epoch"]
        trainer.objective.load_state_dict(_under(tensors, "objective"))
        trainer.load_more_state(_under(tensors, "more"))
        if "centroids" in tensors:
            trainer.set_centroids(tensors["centroids"].clone())
        _put_moments(trainer.optimizer, tensors)
        if trainer.average is not None:
            trainer.average.weights, trainer.average.steps = _under(tensors, "average"), values["average_steps"]
        if trainer.teacher is not None and "teacher" in rows:
            trainer.teacher.mean, trainer.teacher.epochs = rows["teacher"], values["teacher_epochs"]
            trainer.clean = trainer.teacher.log_mean()
        else:
            trainer.clean = rows.get("clean")
        if isinstance(trainer.dropout_generator, torch.Generator):
            trainer.dropout_generator.set_state(tensors["generator"])
        stopping = cast(Resumable, trainer.stopping)
        stopping.load_state(values["stopping"])
        stopping.load_rows(_under(rows, "stopping"))
    except (KeyError, RuntimeError, ValueError) as error:
        raise CheckpointError(
            f"The checkpoint of epoch {snapshot.epoch} does not fit this training ({str(error).splitlines()[0]}); "
            "give the parameters it was made with, or another folder."
        ) from None
    trainer.history = History()
    trainer.history.rows = [dict(row) for row in values["history"]]
    trainer.done, trainer.spent = snapshot.epoch, values["seconds"]


def _put_moments(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Adam's moments and steps, by the number of the weight they belong to."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in _under(tensors, "adam").items():
        number, moment = name.split(".", 1)
        state.setdefault(int(number), {})[moment] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}/{name}": value for name, value in tensors.items()}


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Copies of the tensors under a prefix, by the rest of their name; "adam" has the number of the weight after a dot."""
    if prefix == "adam":
        found = {name[5:].replace("/", ".", 1): value for name, value in tensors.items() if name.startswith("adam.")}
        return {name: value.clone() for name, value in found.items()}
    start = prefix + "/"
    return {name[len(start) :]: value.clone() for name, value in tensors.items() if name.startswith(start)}
