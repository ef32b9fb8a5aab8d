"""Checkpoints: a folder of snapshots on disk, each whole or not there, of which a damaged one is found out and skipped.

    DIR/epoch-000020/            appears in one rename, when everything in it is on the disk
        state.safetensors        what all processes share
        rows-0.safetensors …     what each process knows of its nodes, with their numbers: any number of processes may read it
        checkpoint.json          numbers, and the checksum of every file

The last :data:`KEPT` are kept. Nothing is unpickled. Where processes disagree on which one is whole, they use the latest that all can read.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from ncgc.errors import CheckpointError, OutputError
from ncgc.training.history import History
from ncgc.training.learner import State, prefixed, under
from ncgc.training.stopping import Resumable
from ncgc.training.trainer import Trainer

KEPT = 2
NAME, TEMPORARY = "epoch-", ".ncgc-epoch-"
STATE, INDEX = "state.safetensors", "checkpoint.json"


@dataclass(frozen=True)
class Checkpointing:
    """Where :meth:`ncgc.models.base.NodeClassifier.fit` keeps the state of a training.

    Attributes:
        folder: made if it is not there; all processes must see it.
        every: epochs between two checkpoints.
        resume: whether to go on from the latest whole checkpoint there, to the result of an unbroken training; training
            starts with the first epoch where there is none yet.
    """

    folder: str | Path
    every: int = 10
    resume: bool = False


class Peers(Protocol):
    """The processes that write to the same folder."""

    rank: int
    size: int

    def barrier(self) -> None:
        """Wait until all processes have arrived."""

    def counts(self, number: int) -> list[int]:
        """Exchange a number with all processes.

        Args:
            number: of this process.

        Returns:
            The number of each process, by rank.
        """


class Single:
    """One process, without peers; see :class:`Peers`."""

    rank, size = 0, 1

    def barrier(self) -> None:
        pass

    def counts(self, number: int) -> list[int]:
        return [number]


@dataclass
class Snapshot:
    """All that a trainer needs to go on as if nothing had happened, taken between two epochs.

    Attributes:
        epoch: how many are done.
        state: that of the engine, with the best weights, the history and what the stopping rule remembers.
    """

    epoch: int
    state: State

    @classmethod
    def take(cls, trainer: Trainer) -> Snapshot:
        """Take a snapshot of a trainer between two epochs.

        Args:
            trainer: whose stopping rule is resumable.

        Returns:
            The snapshot. Its tensors are not copies: write them before the next epoch.
        """
        state = trainer.engine.state()
        stopping = cast(Resumable, trainer.stopping)
        state.tensors |= prefixed("best", trainer.best)
        state.rows |= prefixed("stopping", stopping.rows())
        state.values |= {
            "history": trainer.history.rows,
            "stopping": stopping.state(),
            "best_epoch": trainer.best_epoch,
            "seconds": trainer.spent,
        }
        return cls(trainer.done, state)

    def put(self, trainer: Trainer) -> None:
        """Bring a trainer to this state.

        Args:
            trainer: that has not begun.

        Raises:
            CheckpointError: if the snapshot is of a training with other parameters.
        """
        state = self.state
        try:
            trainer.best, trainer.best_epoch = under(state.tensors, "best"), state.values["best_epoch"]
            trainer.engine.load_state(state)
            stopping = cast(Resumable, trainer.stopping)
            stopping.load_state(state.values["stopping"])
            stopping.load_rows(under(state.rows, "stopping"))
        except (KeyError, RuntimeError, ValueError) as error:
            raise CheckpointError(
                f"The checkpoint of epoch {self.epoch} does not fit this training ({str(error).splitlines()[0]}); "
                "give the parameters it was made with, or another folder."
            ) from None
        trainer.history = History()
        trainer.history.rows = [dict(row) for row in state.values["history"]]
        trainer.done, trainer.spent = self.epoch, state.values["seconds"]


def about_training(model: Any, graph: Any, split: Any) -> dict[str, Any]:
    """What makes two trainings the same: parameters, the graph's size and name, and the nodes of the split.

    Args:
        model: with ``get_params``.
        graph: to train on.
        split: its training and validation nodes.

    Returns:
        Values by name; a checkpoint with others is refused.
    """
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
        warn: called with a message for every damaged checkpoint that is skipped.
    """

    def __init__(
        self,
        folder: str | Path,
        about: Mapping[str, Any],
        ids: Tensor,
        every: int = 10,
        peers: Peers | None = None,
        warn: Callable[[str], None] = lambda message: None,
    ):
        self.resumes = False
        self.folder, self.ids, self.every = Path(folder), ids, every
        self.about = json.loads(json.dumps(dict(about), default=str))
        self.peers, self.warn = peers or Single(), warn

    # ---------------------------------------------------------------- writing

    def keep(self, trainer: Trainer, epoch: int) -> None:
        """Write a checkpoint if it is time for one; :class:`Trainer` calls this after every epoch.

        Args:
            trainer: whose state to write.
            epoch: counted from 1.
        """
        if epoch % self.every == 0:
            self.write(Snapshot.take(trainer))

    def write(self, snapshot: Snapshot) -> None:
        """Write a checkpoint that is complete or not there.

        Every process writes its rows. The first one writes the rest, and renames the folder when all have written.

        Args:
            snapshot: to write.

        Raises:
            OutputError: if the folder cannot be written to.
        """
        final = self.folder / f"{NAME}{snapshot.epoch:06}"
        workshop = self.folder / f"{TEMPORARY}{snapshot.epoch:06}"
        try:
            if self.peers.rank == 0:
                shutil.rmtree(workshop, ignore_errors=True)  # of a run that was killed here
                workshop.mkdir(parents=True)
                _save(snapshot.state.tensors, workshop / STATE)
            self.peers.barrier()
            _save({"ids": self.ids, **snapshot.state.rows}, workshop / _rows_name(self.peers.rank))
            self.peers.barrier()
            if self.peers.rank == 0:
                names = [STATE, *(_rows_name(rank) for rank in range(self.peers.size))]
                index = {
                    "epoch": snapshot.epoch,
                    "about": self.about,
                    "values": snapshot.state.values,
                    "files": {name: _digest(workshop / name) for name in names},
                }
                _write_index(workshop / INDEX, index)
                _on_disk(workshop)
                shutil.rmtree(final, ignore_errors=True)  # a damaged one, or training would not come by here again
                workshop.rename(final)
                _on_disk(self.folder)
                self._tidy(final)
        except (OSError, SafetensorError) as error:  # safetensors raises its own error when the disk is full
            reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
            raise OutputError(
                f"The checkpoint cannot be written to {self.folder} ({reason}); free space, or give a folder that all processes "
                "can write to."
            ) from None

    def _tidy(self, latest: Path) -> None:
        """Remove what is older than the last :data:`KEPT`, and what is newer than the latest: it was damaged, and passed over."""
        found = self.found()
        older = [folder for folder in found if folder.name < latest.name]
        for folder in [folder for folder in found if folder.name > latest.name] + older[KEPT - 1 :]:
            shutil.rmtree(folder, ignore_errors=True)

    # ---------------------------------------------------------------- reading

    @classmethod
    def of(
        cls,
        place: Checkpointing,
        about: Mapping[str, Any],
        ids: Tensor,
        peers: Peers | None = None,
        warn: Callable[[str], None] = lambda message: None,
    ) -> Checkpoints:
        """The checkpoints that a :class:`Checkpointing` describes.

        Args:
            place: folder, interval, and whether to resume.
            about, ids, peers, warn: as in the constructor.

        Returns:
            The checkpoints; nothing is read or written yet.
        """
        checkpoints = cls(place.folder, about, ids, place.every, peers, warn)
        checkpoints.resumes = place.resume
        return checkpoints

    def attach(self, trainer: Trainer) -> None:
        """Resume a trainer if :class:`Checkpointing` requires it, and let it write a checkpoint every few epochs.

        Args:
            trainer: that has not begun.

        Raises:
            CheckpointError: as in :meth:`begin`.
        """
        self.begin(trainer, self.resumes)
        self.peers.barrier()  # no process writes while another one reads
        trainer.keep = self.keep

    def found(self) -> list[Path]:
        """The checkpoints in the folder, the latest first."""
        return sorted(self.folder.glob(f"{NAME}*"), reverse=True) if self.folder.is_dir() else []

    def begin(self, trainer: Trainer, resume: bool) -> int:
        """Go on from the latest whole checkpoint, if there is one.

        Args:
            trainer: that has not begun.
            resume: whether to go on. A job may be killed before its first checkpoint, so a folder without one is a warning.

        Returns:
            The epoch of the checkpoint; 0 where training starts with the first epoch.

        Raises:
            CheckpointError: if the folder has checkpoints and ``resume`` is False, since they would be mixed with those of
                this training; or if not all processes see the same folder.
        """
        found = self.found()
        seen = self.peers.counts(len(found))
        if max(seen) and not min(seen):
            raise CheckpointError(
                f"Not every process sees the checkpoints in {self.folder}; give a folder that all machines share."
            )
        if resume and found:
            return self.resume(trainer)
        if found:
            raise CheckpointError(
                f"{self.folder} has checkpoints already, the latest {found[0].name}; add --resume to go on from there, "
                "or give another folder."
            )
        if resume and self.peers.rank == 0:
            self.warn(f"There is no checkpoint in {self.folder} yet; training starts with the first epoch.")
        return 0

    def resume(self, trainer: Trainer) -> int:
        """Bring a trainer to the latest complete checkpoint.

        Args:
            trainer: that has not begun.

        Returns:
            The epoch of the checkpoint.

        Raises:
            CheckpointError: if no checkpoint can be read, or it does not fit this training.
        """
        snapshot = self.latest()
        snapshot.put(trainer)
        return snapshot.epoch

    def latest(self) -> Snapshot:
        """The latest checkpoint that every process can read; a damaged one is named in a warning and the one before it is tried."""
        folders, damaged = self.found(), list[str]()
        while True:
            snapshot, folders = self._first_whole(folders, damaged)
            epochs = self.peers.counts(-1 if snapshot is None else snapshot.epoch)
            if snapshot is not None and min(epochs) == snapshot.epoch == max(epochs):
                return snapshot
            if min(epochs) < 0:  # a process has none left
                break
            if snapshot is not None and snapshot.epoch > min(epochs):  # another process could not read it
                damaged.append(folders[0].name)
                self._name_damaged(folders[0], "another process cannot read it")
                folders = folders[1:]
        if damaged:
            raise CheckpointError(
                f"Every checkpoint in {self.folder} is damaged ({', '.join(damaged)}); start without --resume in another folder."
            )
        raise CheckpointError(
            f"There is no checkpoint in {self.folder}; start without --resume, or give another folder."
        )

    def _first_whole(self, folders: list[Path], damaged: list[str]) -> tuple[Snapshot | None, list[Path]]:
        """The first of these that is whole, and the folders from it on; the damaged ones before it are named."""
        for place, folder in enumerate(folders):
            try:
                return self._read(folder), folders[place:]
            except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
                if isinstance(error, CheckpointError):
                    raise
                damaged.append(folder.name)
                self._name_damaged(folder, str(error).splitlines()[0] if str(error) else type(error).__name__)
        return None, []

    def _name_damaged(self, folder: Path, reason: str) -> None:
        if self.peers.rank == 0:
            self.warn(f"The checkpoint {folder} is damaged ({reason}); the one before it is used.")

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
        return Snapshot(index["epoch"], State(load_file(folder / STATE), self._own(shards), index["values"]))

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


def _on_disk(folder: Path) -> None:
    """The names in a folder survive a power failure from here on."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sum_of(index: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(index, sort_keys=True).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
