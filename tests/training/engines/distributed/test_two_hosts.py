"""Two machines, each with its own network: two network namespaces joined by a cable, made here and removed again."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from ncgc.cli import main

QUICK = [
    "train",
    "digits",
    "--epochs",
    "20",
    "--warmup",
    "2",
    "--ramp",
    "1",
    "--hidden",
    "8",
    "--sinkhorn-iterations",
    "1",
]
ADDRESSES = ("10.203.77.1", "10.203.77.2")
PORT = "29517"  # any: nobody else is in these networks


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True)


@pytest.fixture
def hosts():
    """The names of two namespaces and of their ends of the cable; the test is skipped where they cannot be made."""
    if shutil.which("ip") is None:
        pytest.skip("needs the command ip (iproute2) to make network namespaces")
    names = [f"ncgc{os.getpid()}{side}" for side in "ab"]
    try:
        for words in (
            *(("netns", "add", name) for name in names),
            ("link", "add", names[0], "netns", names[0], "type", "veth", "peer", "name", names[1], "netns", names[1]),
            *(("-n", n, "addr", "add", f"{a}/24", "dev", n) for n, a in zip(names, ADDRESSES, strict=True)),
            *(("-n", name, "link", "set", link, "up") for name in names for link in ("lo", name)),
        ):
            done = ip(*words)
            if done.returncode:
                pytest.skip(f"network namespaces cannot be made here ({done.stderr.strip() or words})")
        yield names
    finally:
        for name in names:
            ip("netns", "del", name)  # the cable goes with it


def final_losses(folder):
    return pd.read_csv(folder / "history.csv")["total"].to_numpy()


def test_two_hosts_are_one(hosts, raw_processes, tmp_path):
    """The lines of docs/scaling.md on two hosts that reach each other by address alone, against two processes on one."""
    jobs = []
    try:
        for rank, name in enumerate(hosts):
            torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1"]
            meeting = ["--node-rank", str(rank), "--master-addr", ADDRESSES[0], "--master-port", PORT]
            words = [*QUICK, "--out", str(tmp_path / "two"), "--timeout", "300"]
            jobs.append(
                subprocess.Popen(
                    [
                        "ip",
                        "netns",
                        "exec",
                        name,
                        *torchrun,
                        *meeting,
                        "-m",
                        "ncgc",
                        *words,
                    ],
                    env=os.environ | {"GLOO_SOCKET_IFNAME": name, "OMP_NUM_THREADS": "1"},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    start_new_session=True,
                )
            )
        said = [job.communicate(timeout=600)[0] for job in jobs]
    finally:
        for job in jobs:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
    assert [job.returncode for job in jobs] == [0, 0], said
    assert "2: 898–899 nodes" in said[0]  # of both hosts, printed by the first
    assert "nodes" not in said[1]
    alone = raw_processes(lambda: main([*QUICK, "--out", str(tmp_path / "one"), "--quiet"]), 2, None)
    assert alone == [(True, 0), (True, 0)]
    losses = final_losses(tmp_path / "one")
    assert len(losses) == 20
    np.testing.assert_allclose(final_losses(tmp_path / "two"), losses, atol=1e-5)
