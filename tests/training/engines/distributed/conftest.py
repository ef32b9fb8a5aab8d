"""Several processes forked from this one: nothing is imported anew, and nobody waits longer than the limit."""

import multiprocessing
import os
import signal
import socket
import traceback

import pytest

from ncgc import NCGC

LIMIT = 600.0  # seconds: machines are busy


def _child(function, rank, size, port, timeout, pipe):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    from ncgc.training.engines.distributed.group import Group

    try:
        pipe.send((True, function() if timeout is None else function(Group.join(timeout))))
    except BaseException as error:
        pipe.send((False, f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))
    finally:
        pipe.close()
        os._exit(0)  # what the parent's tests registered for their end is not ours to run


class Job:
    """Processes that run ``function(group)``; without a timeout they run ``function()`` in torchrun's environment."""

    def __init__(self, function, size, timeout):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        context = multiprocessing.get_context("fork")
        self.pipes = [context.Pipe(duplex=False) for _ in range(size)]
        self.children = [
            context.Process(target=_child, args=(function, rank, size, port, timeout, self.pipes[rank][1]), daemon=True)
            for rank in range(size)
        ]
        for child in self.children:
            child.start()
        for _, sender in self.pipes:
            sender.close()

    def kill(self):
        """All at once, as a power failure does."""
        for child in self.children:
            os.kill(child.pid, signal.SIGKILL)

    def results(self, of=None):
        """(True, result), (False, message) or (None, "killed") of every process, or of the first few; then all are ended."""
        found = []
        try:
            for receiver, _ in self.pipes[:of]:
                assert receiver.poll(LIMIT), "a process said nothing"
                try:
                    found.append(receiver.recv())
                except EOFError:
                    found.append((None, "killed"))
        finally:
            for child in self.children:
                child.kill()
                child.join(LIMIT)
        return found


@pytest.fixture(scope="session")
def start_processes(make_planted):
    """``start_processes(function, size, timeout)``: a :class:`Job`."""
    # what a training imports late (seconds, for torch's optimizers) is imported here once and not in every process
    NCGC(epochs=3, warmup=1, ramp=1, hidden=4).fit(*make_planted())
    return Job


@pytest.fixture(scope="session")
def raw_processes(start_processes):
    """What every process said, by rank: see :meth:`Job.results`."""

    def run(function, size, timeout=LIMIT):
        return start_processes(function, size, timeout).results()

    return run


@pytest.fixture(scope="session")
def in_processes(raw_processes):
    """``in_processes(function, size)``: what ``function(group)`` returned in every process, by rank."""

    def run(function, size, timeout=LIMIT):
        found = raw_processes(function, size, timeout)
        for good, result in found:
            assert good, result
        return [result for _, result in found]

    return run
