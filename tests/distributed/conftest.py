"""Several processes forked from this one: nothing is imported anew, and nobody waits longer than the limit."""

import multiprocessing
import os
import socket
import traceback

import pytest

LIMIT = 60.0


def _child(function, rank, size, port, timeout, pipe):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    from ncgc.distributed.group import Group

    try:
        group = Group.join(timeout)
        pipe.send((True, function(group)))
    except BaseException as error:
        pipe.send((False, f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))
    finally:
        pipe.close()
        os._exit(0)  # what the parent's tests registered for their end is not ours to run


def run_in_processes(function, size, timeout=20.0):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe(duplex=False) for _ in range(size)]
    children = [
        context.Process(target=_child, args=(function, rank, size, port, timeout, pipes[rank][1]), daemon=True)
        for rank in range(size)
    ]
    for child in children:
        child.start()
    found = []
    try:
        for (receiver, sender), child in zip(pipes, children, strict=True):
            sender.close()
            assert receiver.poll(LIMIT), "a process said nothing"
            try:
                found.append(receiver.recv())
            except EOFError:
                found.append((None, "killed"))
            child.join(LIMIT)
    finally:
        for child in children:
            child.kill()
    return found


@pytest.fixture(scope="session")
def in_processes():
    """``in_processes(function, size)``: what ``function(group)`` returned in every process, by rank."""

    def run(function, size, timeout=20.0):
        found = run_in_processes(function, size, timeout)
        for good, result in found:
            assert good, result
        return [result for _, result in found]

    return run


@pytest.fixture(scope="session")
def raw_processes():
    """The same with (True, result), (False, message) or (None, "killed") of every process."""
    return run_in_processes
