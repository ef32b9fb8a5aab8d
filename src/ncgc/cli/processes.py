"""Several processes of one training: launched on this machine and ended together, and what each of them runs.

Exit codes of a process: 0 done, 2 wrong input, 3 another process was lost, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from ncgc.errors import PeerError

GRACE = 10.0  # seconds that the others have to report the loss, once one has failed
POLL = 0.05  # seconds between two checks that the processes run
CHECK = 0.5  # seconds between two checks that the launcher runs
LAUNCHED = "NCGC_LAUNCHED"  # in the environment of a process that our launcher started: the number of its process
WATCHED = ("TORCHELASTIC_RUN_ID", LAUNCHED)  # the first is torchrun's: a process with either ends with its launcher


def launch(words: Sequence[str], processes: int) -> int:
    """Run ``python -m ncgc`` in several processes on this machine.

    The environment is torchrun's (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), which on one machine is all that
    torchrun adds. Without torchrun a lost process is one line on the screen and not a page.

    Args:
        words: the command line, such as ``["train", "cora"]``.
        processes: how many.

    Returns:
        The exit code: 0 if all processes ended well, otherwise that of the first that failed.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {
        "WORLD_SIZE": str(processes),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        LAUNCHED: str(os.getpid()),
    }
    threads = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(max((os.cpu_count() or 1) // processes, 1)))}
    children: list[subprocess.Popen[bytes]] = []
    terminated: list[int] = []
    # Set before the first process starts, and raising nothing: SIGTERM while they are being started must not lose one.
    before = signal.signal(signal.SIGTERM, lambda number, frame: terminated.append(number))
    try:
        for rank in range(processes):
            command = [sys.executable, "-m", "ncgc", *words]
            environment = os.environ | shared | threads | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            children.append(subprocess.Popen(command, env=environment))
        return _awaited(children, terminated)
    finally:
        signal.signal(signal.SIGTERM, before)
        for child in children:
            if child.poll() is None:
                child.kill()
                child.wait()


def _awaited(children: list[subprocess.Popen[bytes]], terminated: list[int]) -> int:
    """The exit code of all, or of the first that failed, once the others have ended too or their grace is over.

    Raises:
        PeerError: SIGTERM arrived; the handler adds its number to ``terminated``.
    """
    failed_at: float | None = None
    code = 0
    while True:
        if terminated:
            raise PeerError("The training was terminated; its processes are stopped.")
        try:
            codes = [child.poll() for child in children]
            failed = [found for found in codes if found]
            if failed and failed_at is None:
                failed_at = time.monotonic()
            if failed:
                # an exit code of its own is more specific than a signal
                code = next((found for found in failed if found > 0), 3)
            if None not in codes or (failed_at is not None and time.monotonic() - failed_at > GRACE):
                return code
            time.sleep(POLL)
        except KeyboardInterrupt:  # the children got it too, and end after their epoch
            continue


# -------------------------------------------------------------------- in each process


def run_process(words: Sequence[str]) -> NoReturn:
    """Run the command as one process of many, then end it with the command's exit code.

    Args:
        words: the command line, such as ``["train", "cora"]``.
    """
    if any(mark in os.environ for mark in WATCHED):
        # from the environment where it is there: the launcher may be gone before this process asks for its parent
        parent = int(os.environ.get(LAUNCHED, os.getppid()))
        threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    from ncgc.cli import main

    signal.signal(signal.SIGTERM, _terminated)
    code = main(list(words))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # gloo's threads may still wait for a process that is gone


def _terminated(number: int, frame: FrameType | None) -> None:
    """The handler of SIGTERM: a PeerError, so that the process ends like one that lost another."""
    rank, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
    raise PeerError(f"Process {rank} of {size} was terminated; another one has failed, or the job was stopped.")


def end_with(parent: int) -> None:
    """End this process when its launcher is gone.

    A killed launcher sends no signal, and its processes would train and write on unseen.

    Args:
        parent: process id of the launcher.
    """
    while os.getppid() == parent:
        time.sleep(CHECK)
    rank, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
    print(f"Error: Process {rank} of {size} ends because its launcher is gone.", file=sys.stderr, flush=True)
    os._exit(3)
