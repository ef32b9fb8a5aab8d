"""One process of many: `torchrun --nproc-per-node N -m ncgc.training.engines.distributed train DATASET …`, with the words of `ncgc`.

Exit codes: 0 done, 2 the input's fault, 3 another process was lost, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType

from ncgc.errors import PeerError

WATCHED = ("TORCHELASTIC_RUN_ID", "NCGC_LAUNCHED")  # torchrun's and our launcher's mark
CHECK = 0.5  # seconds between two checks that the launcher lives


def terminated(number: int, frame: FrameType | None) -> None:
    """The handler of SIGTERM: a PeerError, so that the process ends like one that lost another."""
    rank, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
    raise PeerError(f"Process {rank} of {size} was terminated; another one has failed, or the job was stopped.")


def end_with(parent: int) -> None:
    """End when the launcher is gone: a killed launcher sends no signal, and its processes would train and write on unseen."""
    while os.getppid() == parent:
        time.sleep(CHECK)
    rank, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
    print(f"Error: Process {rank} of {size} ends, since what started it is gone.", file=sys.stderr, flush=True)
    os._exit(3)


def main() -> int:
    """Run the command of this process; its exit code."""
    if any(mark in os.environ for mark in WATCHED):
        threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    from ncgc.cli import main as command

    signal.signal(signal.SIGTERM, terminated)
    return command(sys.argv[1:])


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # gloo's threads may still wait for a process that is gone
