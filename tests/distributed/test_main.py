"""The command in several processes, as a person runs it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

QUICK = [
    "train",
    "digits",
    "--epochs",
    "30",
    "--warmup",
    "2",
    "--ramp",
    "1",
    "--hidden",
    "8",
    "--sinkhorn-iterations",
    "1",
]


def child_of(pid, rank):
    """The process number of one of the processes that a job started."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if f"\0RANK={rank}\0" in Path(f"/proc/{child}/environ").read_text():
            return int(child)
    raise AssertionError(f"{pid} has no process of rank {rank}")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux to find the processes")
def test_kill_a_process_and_resume(tmp_path):
    """`ncgc train --distributed` loses a process: a sentence and code 3. Under torchrun it then goes on to the end."""
    words = [*QUICK, "--checkpoint", str(tmp_path), "--every", "1", "--timeout", "60"]
    start = [sys.executable, "-c", "import sys; from ncgc.cli import main; sys.exit(main())"]
    pipe = subprocess.PIPE
    job = subprocess.Popen([*start, *words, "--distributed"], stderr=pipe, stdout=pipe, text=True)
    try:
        deadline = time.monotonic() + 90
        while not list(tmp_path.glob("epoch-*")):
            assert time.monotonic() < deadline
            assert job.poll() is None, job.stderr.read()
            time.sleep(0.02)
        os.kill(child_of(job.pid, 1), signal.SIGKILL)
        _, said = job.communicate(timeout=60)
    finally:
        job.kill()
    assert job.returncode == 3, said
    assert "Process 0 of 2 lost another process in epoch" in said
    assert f"--checkpoint {tmp_path} --resume" in said
    assert "Traceback" not in said
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*torchrun, "-m", "ncgc.distributed", *words, "--resume", "--json"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["epochs"] == 30
