"""Group: the processes that train together. A lost process is a PeerError in all others, within the time limit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

from ncgc.errors import ParameterError, PeerError

TIMEOUT = 300.0  # seconds that a process waits for the others
_TYPES = (torch.int64, torch.int32, torch.float32, torch.float64, torch.uint8)
_NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
RECEIVERS = ("everybody", "neighbours", "first", "others")  # of messages


@dataclass
class Traffic:
    """Bytes and messages by receiver, as handed to gloo: its own headers and forwarding are not counted.

    Attributes:
        sent: bytes to "everybody" (sums, maxima and the first process's values, each counted once), to "neighbours" (rows
            of the halo), to the "first" process (rows gathered at the end) and from it to the "others" (their rows of the
            graph at the start).
        messages: how many.

    >>> import torch
    >>> traffic = Traffic()
    >>> traffic.add("everybody", torch.zeros(3, 3))
    >>> traffic.sent["everybody"], traffic.messages["everybody"], traffic.sent["neighbours"]
    (36, 1, 0)
    """

    sent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RECEIVERS, 0))
    messages: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RECEIVERS, 0))

    def add(self, receiver: str, values: Tensor) -> None:
        """Count one message.

        Args:
            receiver: who gets it, a key of ``sent``.
            values: its content.
        """
        self.sent[receiver] += values.numel() * values.element_size()
        self.messages[receiver] += 1

    def since(self, earlier: Traffic) -> Traffic:
        """The traffic after an earlier moment.

        Args:
            earlier: a :meth:`copy` made then.

        Returns:
            Bytes and messages since.
        """
        return Traffic(
            {name: number - earlier.sent[name] for name, number in self.sent.items()},
            {name: number - earlier.messages[name] for name, number in self.messages.items()},
        )

    def copy(self) -> Traffic:
        """The counts so far."""
        return Traffic(dict(self.sent), dict(self.messages))


class Group:
    """The processes of one training, over gloo; every method is called by all of them in the same order.

    Without torchrun's environment it is a group of one, in which nothing is sent.

    Args:
        rank: of this process, from 0.
        size: how many processes there are.
        timeout: seconds that a process waits for the others.

    Attributes:
        where: what is going on, for the message when a process is lost: "in epoch 7".
        traffic: what this process sent.

    >>> group = Group()
    >>> group.rank, group.size, group.summed(torch.ones(2))
    (0, 1, tensor([1., 1.]))
    """

    def __init__(self, rank: int = 0, size: int = 1, timeout: float = TIMEOUT):
        self.rank, self.size, self.timeout = rank, size, timeout
        self.where = "at the start"
        self.traffic = Traffic()

    @classmethod
    def join(cls, timeout: float = TIMEOUT) -> Group:
        """Join the group that torchrun's environment names (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT).

        Args:
            timeout: seconds to wait for the others, now and later.

        Returns:
            The group; a group of one without that environment.

        Raises:
            ParameterError: if some of the four variables are missing.
            PeerError: if the others do not come in time.
        """
        if "WORLD_SIZE" not in os.environ:
            return cls(timeout=timeout)
        missing = [name for name in _NEEDED if name not in os.environ]
        if missing:
            raise ParameterError(
                f"The environment has WORLD_SIZE but not {', '.join(missing)}; start with torchrun, which sets them all."
            )
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        try:
            dist.init_process_group("gloo", rank=rank, world_size=size, timeout=timedelta(seconds=timeout))
            dist.barrier()
        except (RuntimeError, OSError, ValueError) as error:
            place = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
            raise PeerError(
                f"Process {rank} of {size} could not meet the others at {place} within {timeout:g} s ({_first_line(error)}); "
                "check that all of them were started, with the same size, and can reach that address."
            ) from None
        return cls(rank, size, timeout)

    def leave(self) -> None:
        """Close the connections."""
        if self.size > 1 and dist.is_initialized():
            dist.destroy_process_group()

    @property
    def first(self) -> bool:
        """Whether this is the first process, the one that reads, writes and prints."""
        return self.rank == 0

    # ---------------------------------------------------------------- messages

    def summed(self, values: Tensor) -> Tensor:
        """The entry-wise sum over all processes, equal to the bit in each.

        Args:
            values: of this process, of any shape; the same shape in every process.

        Returns:
            Of the same shape, without a gradient.
        """
        return self._reduced(values, dist.ReduceOp.SUM)

    def highest(self, values: Tensor) -> Tensor:
        """The entry-wise maximum over all processes.

        Args:
            values: of this process, of any shape; the same shape in every process.

        Returns:
            Of the same shape, without a gradient.
        """
        return self._reduced(values, dist.ReduceOp.MAX)

    def from_first(self, values: Tensor) -> Tensor:
        """Broadcast the values of the first process.

        Args:
            values: to send, in the first process; any tensor of the same shape and type in the others.

        Returns:
            The values of the first process.
        """
        values = values.detach().clone().contiguous()
        if self.size > 1:
            with self._guarded():
                dist.broadcast(values, 0)
            self.traffic.add("everybody", values)
        return values

    def exchanged(self, rows: Tensor, send: list[int], receive: list[int]) -> Tensor:
        """Exchange rows between all pairs of processes.

        Args:
            rows: (Σ send, …) in the order of their receivers.
            send: how many rows to send to each process.
            receive: how many rows to receive from each.

        Returns:
            (Σ receive, …) in the order of their senders.
        """
        return self.exchange_begun(rows, send, receive)()

    def exchange_begun(self, rows: Tensor, send: list[int], receive: list[int]) -> Callable[[], Tensor]:
        """Start :meth:`exchanged` without waiting for it.

        Args:
            rows, send, receive: as there.

        Returns:
            A function that waits for the rows and returns them.
        """
        if self.size == 1:
            return lambda: rows
        out, rows = rows.new_empty((sum(receive), *rows.shape[1:])), rows.contiguous()
        with self._guarded():
            work = dist.all_to_all_single(out, rows, receive, send, async_op=True)
        self.traffic.add("neighbours", rows)

        def arrived() -> Tensor:
            with self._guarded():
                work.wait()
            return out

        return arrived

    def gathered(self, rows: Tensor) -> list[Tensor]:
        """Collect rows in the first process.

        Args:
            rows: (m_r, …) of this process; the number of rows may differ between processes.

        Returns:
            The rows of every process, by rank; an empty list in all but the first.
        """
        counts = self.counts(len(rows))
        if self.size == 1:
            return [rows]
        with self._guarded():
            if not self.first:
                if len(rows):
                    dist.send(rows.contiguous(), 0)
                    self.traffic.add("first", rows)
                return []
            found = [rows]
            for rank in range(1, self.size):
                found.append(rows.new_empty((counts[rank], *rows.shape[1:])))
                if counts[rank]:
                    dist.recv(found[-1], rank)
            return found

    def give(self, values: Tensor, rank: int) -> None:
        """Send a vector or matrix to one process, which calls :meth:`taken`.

        Type and shape are sent first, so that the receiver need not know them.

        Args:
            values: to send.
            rank: of the receiver.
        """
        shape = [*values.shape, 0][:2]
        with self._guarded():
            dist.send(torch.tensor([_TYPES.index(values.dtype), values.dim(), *shape]), rank)
            if values.numel():
                dist.send(values.contiguous(), rank)
        self.traffic.add("others", values)

    def taken(self) -> Tensor:
        """The vector or matrix that the first process sends to this one by :meth:`give`."""
        header = torch.zeros(4, dtype=torch.int64)
        with self._guarded():
            dist.recv(header, 0)
            kind, dimensions, *shape = header.tolist()
            values = torch.empty(shape[:dimensions], dtype=_TYPES[kind])
            if values.numel():
                dist.recv(values, 0)
        return values

    def counts(self, number: int) -> list[int]:
        """Exchange a number with all processes.

        Args:
            number: of this process.

        Returns:
            The number of each process, by rank.
        """
        numbers = torch.zeros(self.size, dtype=torch.int64)
        numbers[self.rank] = number
        counts: list[int] = self.summed(numbers).tolist()
        return counts

    def barrier(self) -> None:
        """Wait until all processes are here."""
        self.summed(torch.zeros(1))

    def _reduced(self, values: Tensor, operation: dist.ReduceOp.RedOpType) -> Tensor:
        values = values.detach().clone().contiguous()
        if self.size > 1:
            with self._guarded():
                dist.all_reduce(values, operation)
            self.traffic.add("everybody", values)
        return values

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn a closed connection or a timeout into a PeerError."""
        try:
            yield
        except RuntimeError as error:
            raise PeerError(
                f"Process {self.rank} of {self.size} lost another process {self.where} ({_first_line(error)})."
            ) from None


def _first_line(error: BaseException) -> str:
    """The library's message without the place in its source and its advice."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    text = text.split("] ", 1)[1] if text.startswith("[") and "] " in text else text
    return text.split(". This may indicate")[0].rstrip(".")[:160]
