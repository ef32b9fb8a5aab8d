"""Processes of one training on this machine: started together, and ended together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

from ncgc.errors import PeerError

GRACE = 10.0  # seconds that the others have to report the loss, once one has failed
POLL = 0.05
LAUNCHED = "NCGC_LAUNCHED"  # in the environment of a process whose end is its launcher's


def launch(words: Sequence[str], processes: int) -> int:
    """Run ``python -m ncgc.training.engines.distributed`` in several processes on this machine.

    The environment is torchrun's (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), which on one machine is all that torchrun
    adds. Without torchrun a lost process is one line on the screen and not a page.

    Args:
        words: the command line, such as ``["train", "cora"]``.
        processes: how many.

    Returns:
        The exit code: 0 if all processes ended well, otherwise that of the first that failed.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), LAUNCHED: "1"}
    threads = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(max((os.cpu_count() or 1) // processes, 1)))}
    children: list[subprocess.Popen[bytes]] = []
    terminated: list[int] = []
    # Set before the first process starts, and raising nothing: SIGTERM while they are being started must not lose one.
    before = signal.signal(signal.SIGTERM, lambda number, frame: terminated.append(number))
    try:
        for rank in range(processes):
            command = [sys.executable, "-m", "ncgc.training.engines.distributed", *words]
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
                # a code of its own says more than that a process was killed
                code = next((found for found in failed if found > 0), 3)
            if None not in codes or (failed_at is not None and time.monotonic() - failed_at > GRACE):
                return code
            time.sleep(POLL)
        except KeyboardInterrupt:  # the children got it too, and end after their epoch
            continue
