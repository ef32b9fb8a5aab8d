"""Many runs, a few at a time, each in a process with one thread: two such are faster than one run on two threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ncgc.errors import NCGCError
from ncgc.runs.spec import RunSpec
from ncgc_bench.store import Store

INTERRUPT_CHECK = 0.2  # seconds between two moments at which Ctrl-C takes effect


@dataclass(frozen=True)
class Outcome:
    """A run with its record, or with a sentence on why there is none."""

    run: RunSpec
    record: dict[str, Any] | None
    problem: str | None = None


def make(
    runs: Iterable[RunSpec],
    store: Store,
    name: str,
    jobs: int = 1,
    threads: int = 1,
    root: str | None = None,
    started: Callable[[RunSpec], None] = lambda run: None,
) -> Generator[Outcome, None, None]:
    """Make the runs that the store lacks, store each as it ends and yield it.

    Ctrl-C ends the running ones and stores nothing of them; what was yielded is on the disk.

    Args:
        runs: those of a plan.
        store: where records are found and added.
        name: file of the store to add to.
        jobs: runs at a time, each in a process.
        threads: of each process.
        root: a folder to search for data sets first.
        started: called with each run as it begins.

    Yields:
        The outcome of each run, as they end.

    Raises:
        NCGCError: a process died.
    """
    waiting = store.missing(runs)
    if not waiting:
        return
    context = multiprocessing.get_context("spawn")
    with _threads_in_children(threads):
        pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(threads,))
        running: dict[Future[dict[str, Any]], RunSpec] = {}
        try:
            while waiting or running:
                with _interrupt_held():
                    while waiting and len(running) < jobs:
                        run = waiting.pop(0)
                        started(run)
                        running[pool.submit(_execute, run, root)] = run
                    wait(running, timeout=INTERRUPT_CHECK, return_when=FIRST_COMPLETED)
                    ended = _collect(running, store, name)
                yield from ended
        finally:
            with _interrupt_held():
                try:
                    _collect(running, store, name)  # what ended while Ctrl-C was on its way
                finally:
                    _end(pool)


def _collect(running: dict[Future[dict[str, Any]], RunSpec], store: Store, name: str) -> list[Outcome]:
    """Take out the runs that have ended; their records are stored before they are reported."""
    outcomes = []
    for future in [future for future in running if future.done()]:
        outcome = _outcome(running.pop(future), future)
        if outcome.record is not None:
            store.add(name, outcome.record)
        outcomes.append(outcome)
    return outcomes


def _outcome(run: RunSpec, future: Future[dict[str, Any]]) -> Outcome:
    try:
        return Outcome(run, future.result())
    except BrokenProcessPool:
        raise NCGCError(
            "A process that ran an experiment died, perhaps for lack of memory; start again with --jobs 1."
        ) from None
    except NCGCError as error:
        return Outcome(run, None, str(error))
    except Exception as error:
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            return Outcome(run, None, "There is not enough memory for this run; try --jobs 1.")
        raise


@contextmanager
def _interrupt_held() -> Iterator[None]:
    """Inside, Ctrl-C waits: within the pool's own code it could leave a lock taken for ever or a line half written.

    A terminal sends it to the whole group of processes; a child begun in here inherits the mask and ignores it.
    """
    received: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    replaced = callable(handler) and threading.current_thread() is threading.main_thread()
    if replaced:
        # a mask alone is not enough: another thread, of the live table say, may take the signal
        signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else None
    try:
        yield
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if replaced:
            signal.signal(signal.SIGINT, handler)
    if received and callable(handler):
        handler(received[0], None)


def _begin(threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import torch

    from ncgc.runs.execute import prepare

    torch.set_num_threads(threads)
    prepare()


def _end_with_parent() -> None:
    """A parent that was killed cannot end its children, and they would wait for it for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _execute(run: RunSpec, root: str | None) -> dict[str, Any]:
    from ncgc.runs.execute import execute

    return execute(run, root, fresh_peak=True).record()


def _end(pool: ProcessPoolExecutor) -> None:
    processes: Sequence[Any] = list((pool._processes or {}).values())
    for process in processes:
        process.terminate()
    # wait for its thread too, or the interpreter may exit while it is half closed
    pool.shutdown(wait=True, cancel_futures=True)
    for process in processes:
        process.join()


class _threads_in_children:
    """OpenMP reads its number of threads when a process begins, so it is in the environment while children are made."""

    NAMES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

    def __init__(self, threads: int):
        self.threads = threads

    def __enter__(self) -> None:
        self.before = {name: os.environ.get(name) for name in self.NAMES}
        os.environ.update(dict.fromkeys(self.NAMES, str(self.threads)))

    def __exit__(self, *error: object) -> None:
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
