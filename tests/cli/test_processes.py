"""The command in several processes, as a person runs it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from ncgc.cli import processes

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
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux to find the processes")


# Imported at the start of every process: the first one kills the second as soon as the checkpoint of epoch 5 has its name.
KILLER = """
import os, pathlib, signal

rename = os.rename


def rename_and_kill(source, target, **options):
    rename(source, target, **options)
    if os.environ.get("RANK") == "0" and os.path.basename(target) == "epoch-000005":
        launcher = os.getppid()
        for child in pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
            if "\\0RANK=1\\0" in pathlib.Path(f"/proc/{child}/environ").read_text():
                os.kill(int(child), signal.SIGKILL)


os.rename = rename_and_kill
"""


def awaited(condition, seconds=600.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@linux
def test_kill_a_process_and_resume(tmp_path):
    """`ncgc train --distributed` loses a process: a sentence and code 3. Under torchrun it then goes on to the unbroken loss."""
    kept = tmp_path / "kept"
    words = [*QUICK, "--checkpoint", str(kept), "--every", "1", "--timeout", "600"]
    start = [sys.executable, "-c", "import sys; from ncgc.cli import main; sys.exit(main())"]
    (tmp_path / "sitecustomize.py").write_text(KILLER)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    killed = subprocess.run(
        [*start, *words, "--distributed"],
        capture_output=True,
        text=True,
        timeout=900,
        env=ENVIRONMENT | {"PYTHONPATH": path},
    )
    said = killed.stderr
    assert killed.returncode == 3, said
    assert "Process 0 of 2 lost another process in epoch 6" in said
    assert f"--checkpoint {kept} --resume" in said
    assert "Traceback" not in said
    assert not (kept / "epoch-000030").exists()
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [
            *torchrun,
            "-m",
            "ncgc",
            *words,
            "--resume",
            "--json",
            "--out",
            str(tmp_path / "broken"),
        ],
        capture_output=True,
        text=True,
        timeout=900,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["epochs"] == 30
    assert said["distributed"]["processes"] == 2
    unbroken = subprocess.run(
        [*start, *QUICK, "--distributed", "--out", str(tmp_path / "unbroken"), "--quiet"],
        capture_output=True,
        text=True,
        timeout=900,
        env=ENVIRONMENT,
    )
    assert unbroken.returncode == 0, unbroken.stderr
    found, expected = (pd.read_csv(tmp_path / name / "history.csv")["total"] for name in ("broken", "unbroken"))
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-6)


def test_processes_end_with_what_started_them():
    """Killed, a launcher says nothing; a process of it ends all the same, with code 3."""
    reader, writer = os.pipe()
    launcher = os.fork()
    if not launcher:
        child = os.fork()
        if not child:
            sys.stderr, parent = os.fdopen(writer, "w"), os.getppid()
            print(os.getpid(), file=sys.stderr, flush=True)  # from here on the launcher may be gone
            processes.end_with(parent)
        while True:
            signal.pause()
    os.close(writer)
    with os.fdopen(reader) as said:
        child = int(said.readline())
        os.kill(launcher, signal.SIGKILL)
        os.waitpid(launcher, 0)
        assert said.read() == "Error: Process 0 of 1 ends because its launcher is gone.\n"
    awaited(lambda: not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2])


def test_a_launcher_that_is_terminated_stops_its_processes(tmp_path, monkeypatch):
    """SIGTERM, as schedulers send it: nothing goes on in the background."""
    sleeper = tmp_path / "python"
    sleeper.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/pids\nexec sleep 3600\n")
    sleeper.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(sleeper))
    launcher = os.fork()
    if not launcher:
        try:
            processes.launch([], 2)
        except processes.PeerError as error:
            (tmp_path / "said").write_text(str(error))
        finally:
            os._exit(0)
    pids = tmp_path / "pids"
    awaited(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    os.kill(launcher, signal.SIGTERM)
    os.waitpid(launcher, 0)
    assert (tmp_path / "said").read_text() == "The training was terminated; its processes are stopped."
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
