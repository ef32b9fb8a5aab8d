"""Checkpoints: a folder of snapshots on disk, each whole or not there, of which a damaged one is found out and skipped.

    DIR/epoch-000020/            appears in one rename, when everything in it is on the disk
        state.safetensors        what all processes share
        rows-0.safetensors …     what each process knows of its nodes, with their numbers: any number of processes may read it
        checkpoint.json          numbers, and the checksum of every file

The last :data:`KEPT` are kept. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from ncgc.errors import CheckpointError, OutputError
from ncgc.training.snapshot import Snapshot, put, take
from ncgc.training.trainer import Trainer

KEPT = 2
NAME, TEMPORARY = "epoch-", ".ncgc-epoch-"
STATE, INDEX = "state.safetensors", "checkpoint.json"


class Peers(Protocol):
    """Who else writes to the same folder."""

    rank: int
    size: int

    def barrier(self) -> None:
        """Wait until all are here."""


class Single:
    """Nobody else."""

    rank, size = 0, 1

    def barrier(self) -> None:
        pass


def about_training(model: Any, graph: Any, split: Any) -> dict[str, Any]:
    """What makes two trainings the same: parameters, the graph's size and name, and the nodes of the split."""
    nodes = hashlib.sha256()
    for part in (split.train, split.val):
        nodes.update(part.tobytes() + b"|")
    graph_ = [graph.name, graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes]
    return {**model.get_params(deep=False), "graph": graph_, "split": nodes.hexdigest()[:16]}


class Checkpoints:
    """Snapshots of one training in a folder that all its processes see.

    Args:
        folder: made if it is not there.
        about: what the training is of (data set, parameters, seed): a checkpoint of another is refused.
        ids: (m,) global numbers of the nodes that this process has.
        every: epochs between two checkpoints.
        peers: the other processes.
        warn: told in a sentence of every damaged checkpoint that is skipped.
    """

    def __init__(
        self,
        folder: str | Path,
        about: Mapping[str, Any],
        ids: Tensor,
        every: int = 10,
        peers: Peers | None = None,
        warn: Callable[[str], None] = lambda sentence: None,
    ):
        self.folder, self.ids, self.every = Path(folder), ids, every
        self.about = json.loads(json.dumps(dict(about), default=str))
        self.peers, self.warn = peers or Single(), warn

    # ---------------------------------------------------------------- writing

    def keep(self, trainer: Trainer, epoch: int) -> None:
        """Write a checkpoint if it is time for one: what :class:`Trainer` calls after every epoch."""
        if epoch % self.every == 0:
            self.write(take(trainer))

    def write(self, snapshot: Snapshot) -> None:
        """Every process writes its rows, the first one the rest, and renames when all have written."""
        final = self.folder / f"{NAME}{snapshot.epoch:06}"
        workshop = self.folder / f"{TEMPORARY}{snapshot.epoch:06}"
        try:
            if self.peers.rank == 0:
                shutil.rmtree(workshop, ignore_errors=True)  # of a run that was killed here
                workshop.mkdir(parents=True)
                _save(snapshot.tensors, workshop / STATE)
            self.peers.barrier()
            _save({"ids": self.ids, **snapshot.rows}, workshop / _rows_name(self.peers.rank))
            self.peers.barrier()
            if self.peers.rank == 0:
                names = [STATE, *(_rows_name(rank) for rank in range(self.peers.size))]
                index = {
                    "epoch": snapshot.epoch,
                    "about": self.about,
                    "values": snapshot.values,
                    "files": {name: _digest(workshop / name) for name in names},
                }
                _write_index(workshop / INDEX, index)
                shutil.rmtree(final, ignore_errors=True)
                workshop.rename(final)
                for old in self.found()[KEPT:]:
                    shutil.rmtree(old, ignore_errors=True)
        except OSError as error:
            raise OutputError(
                f"The checkpoint cannot be written to {self.folder} ({error.strerror or error}); free space or give another folder."
            ) from None

    # ---------------------------------------------------------------- reading

    def found(self) -> list[Path]:
        """The checkpoints in the folder, the latest first."""
        return sorted(self.folder.glob(f"{NAME}*"), reverse=True) if self.folder.is_dir() else []

    def resume(self, trainer: Trainer) -> int:
        """Bring the trainer to the latest checkpoint that is whole and return its epoch; an error if there is none."""
        snapshot = self.latest()
        put(trainer, snapshot)
        return snapshot.epoch

    def latest(self) -> Snapshot:
        """The latest checkpoint that is whole. Each damaged one is named; the one before it is tried."""
        damaged = []
        for folder in self.found():
            try:
                return self._read(folder)
            except (OSError, ValueError, KeyError, SafetensorError) as error:
                if isinstance(error, CheckpointError):
                    raise
                damaged.append(folder.name)
                reason = str(error).splitlines()[0] if str(error) else type(error).__name__
                if self.peers.rank == 0:
                    self.warn(f"The checkpoint {folder} is damaged ({reason}); the one before it is used.")
        if damaged:
            raise CheckpointError(
                f"Every checkpoint in {self.folder} is damaged ({', '.join(damaged)}); start without --resume."
            )
        raise CheckpointError(
            f"There is no checkpoint in {self.folder}; start without --resume, or give another folder."
        )

    def _read(self, folder: Path) -> Snapshot:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        checksum = index.pop("checksum", None)
        if checksum != _sum_of(index):
            raise ValueError(f"{INDEX} was changed")
        if index["about"] != self.about:
            names = sorted(set(index["about"]) | set(self.about))
            other = [name for name in names if index["about"].get(name) != self.about.get(name)]
            raise CheckpointError(
                f"The checkpoint {folder} is of another training ({other[0]}: {index['about'].get(other[0])!r} there, "
                f"{self.about.get(other[0])!r} here); give the same options, or another folder."
            )
        for name, digest in index["files"].items():
            if _digest(folder / name) != digest:
                raise ValueError(f"{name} does not fit its checksum")
        shards = [load_file(folder / name) for name in index["files"] if name != STATE]
        return Snapshot(index["epoch"], load_file(folder / STATE), self._own(shards), index["values"])

    def _own(self, shards: list[dict[str, Tensor]]) -> dict[str, Tensor]:
        """The rows of this process's nodes, whoever wrote them."""
        ids, order = torch.cat([shard.pop("ids") for shard in shards]).sort()
        place = torch.searchsorted(ids, self.ids).clamp_max_(max(len(ids) - 1, 0))
        if not torch.equal(ids[place], self.ids):
            raise ValueError("nodes are missing")
        return {name: torch.cat([shard[name] for shard in shards])[order[place]] for name in shards[0]}


def _rows_name(rank: int) -> str:
    return f"rows-{rank}.safetensors"


def _save(tensors: Mapping[str, Tensor], path: Path) -> None:
    save_file({name: value.detach().clone().contiguous() for name, value in tensors.items()}, path)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _write_index(path: Path, index: dict[str, Any]) -> None:
    plain = json.loads(json.dumps(index))
    with path.open("w", encoding="utf-8") as file:
        json.dump({**plain, "checksum": _sum_of(plain)}, file)
        file.flush()
        os.fsync(file.fileno())


def _sum_of(index: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(index, sort_keys=True).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
