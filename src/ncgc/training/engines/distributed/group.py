"""Group: the processes that train together. What goes wrong between them is one sentence, within the time limit."""

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
WHOM = ("everybody", "neighbours", "first", "others")  # messages are for


@dataclass
class Traffic:
    """Bytes and messages by whom they are for. What the network below adds, and how often it passes them on, is not counted.

    Attributes:
        sent: bytes to "everybody" (sums, maxima, the first one's values: each counted once, as long as it is), to
            "neighbours" (rows of the halo), to the "first" process (rows gathered at the end) and by it to the "others"
            (their rows of the graph at the start).
        messages: how many there were.

    >>> import torch
    >>> traffic = Traffic()
    >>> traffic.add("everybody", torch.zeros(3, 3))
    >>> traffic.sent["everybody"], traffic.messages["everybody"], traffic.sent["neighbours"]
    (36, 1, 0)
    """

    sent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WHOM, 0))
    messages: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WHOM, 0))

    def add(self, whom: str, values: Tensor) -> None:
        self.sent[whom] += values.numel() * values.element_size()
        self.messages[whom] += 1

    def since(self, earlier: Traffic) -> Traffic:
        """What was sent after ``earlier`` was a :meth:`copy` of this."""
        return Traffic(
            {whom: number - earlier.sent[whom] for whom, number in self.sent.items()},
            {whom: number - earlier.messages[whom] for whom, number in self.messages.items()},
        )

    def copy(self) -> Traffic:
        return Traffic(dict(self.sent), dict(self.messages))


class Group:
    """The processes of one training, over gloo; every method is called by all of them in the same order.

    Without torchrun's environment it is a group of one, in which nothing is sent.

    >>> group = Group()
    >>> group.rank, group.size, group.summed(torch.ones(2))
    (0, 1, tensor([1., 1.]))
    """

    def __init__(self, rank: int = 0, size: int = 1, timeout: float = TIMEOUT):
        self.rank, self.size, self.timeout = rank, size, timeout
        self.where = "at the start"  # for the sentence when somebody is lost
        self.traffic = Traffic()

    @classmethod
    def join(cls, timeout: float = TIMEOUT) -> Group:
        """The group that torchrun's environment names (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT); one alone without it."""
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
        if self.size > 1 and dist.is_initialized():
            dist.destroy_process_group()

    @property
    def first(self) -> bool:
        """Whether this is the one process that talks."""
        return self.rank == 0

    # ---------------------------------------------------------------- messages

    def summed(self, values: Tensor) -> Tensor:
        """The entry-wise sum over all processes, the same to the bit in each."""
        return self._reduced(values, dist.ReduceOp.SUM)

    def highest(self, values: Tensor) -> Tensor:
        return self._reduced(values, dist.ReduceOp.MAX)

    def from_first(self, values: Tensor) -> Tensor:
        """The first process's values; the others give any tensor of the same shape."""
        values = values.detach().clone().contiguous()
        if self.size > 1:
            with self._guarded():
                dist.broadcast(values, 0)
            self.traffic.add("everybody", values)
        return values

    def exchanged(self, rows: Tensor, send: list[int], receive: list[int]) -> Tensor:
        """Rows (Σ send, …) in the order of the processes they are for; returns those (Σ receive, …) that were sent here."""
        return self.exchange_begun(rows, send, receive)()

    def exchange_begun(self, rows: Tensor, send: list[int], receive: list[int]) -> Callable[[], Tensor]:
        """:meth:`exchanged` on its way: what is returned waits for the rows that were sent here."""
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
        """The rows (m_r, …) of every process, in the first process; an empty list in the others."""
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
        """Send a vector or matrix to one process, which calls :meth:`taken`; its type and shape go before it."""
        shape = [*values.shape, 0][:2]
        with self._guarded():
            dist.send(torch.tensor([_TYPES.index(values.dtype), values.dim(), *shape]), rank)
            if values.numel():
                dist.send(values.contiguous(), rank)
        self.traffic.add("others", values)

    def taken(self) -> Tensor:
        """What the first process gives to this one."""
        header = torch.zeros(4, dtype=torch.int64)
        with self._guarded():
            dist.recv(header, 0)
            kind, dimensions, *shape = header.tolist()
            values = torch.empty(shape[:dimensions], dtype=_TYPES[kind])
            if values.numel():
                dist.recv(values, 0)
        return values

    def counts(self, number: int) -> list[int]:
        """The number that each process gives, in all processes."""
        numbers = torch.zeros(self.size, dtype=torch.int64)
        numbers[self.rank] = number
        counts: list[int] = self.summed(numbers).tolist()
        return counts

    def barrier(self) -> None:
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
        """A peer that closed its connection, or said nothing for the time limit, is one sentence."""
        try:
            yield
        except RuntimeError as error:
            raise PeerError(
                f"Process {self.rank} of {self.size} lost another process {self.where} ({_first_line(error)})."
            ) from None


def _first_line(error: BaseException) -> str:
    """What the library says, without the place in its source and its advice."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    text = text.split("] ", 1)[1] if text.startswith("[") and "] " in text else text
    return text.split(". This may indicate")[0].rstrip(".")[:160]
