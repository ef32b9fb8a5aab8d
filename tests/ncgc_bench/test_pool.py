"""The pool: the same results however many at a time, nothing made twice, and nothing lost when it is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ncgc.runs.execute import execute
from ncgc.runs.spec import RunSpec
from ncgc_bench.pool import _interrupt_held, _threads_in_children, make
from ncgc_bench.store import Store

QUICK = {"hidden": 8, "epochs": 40, "warmup": 2, "ramp": 1}
RUNS = [RunSpec.on_dataset("digits", "few", 1, seed, parameters=QUICK) for seed in range(6)]
SCRIPT = """
import sys
from ncgc_bench.pool import make
from ncgc.runs.spec import RunSpec
from ncgc_bench.store import Store

if __name__ == "__main__":
    folder, jobs = sys.argv[1], int(sys.argv[2])
    quick = {"hidden": 8, "epochs": 40, "warmup": 2, "ramp": 1}
    runs = [RunSpec.on_dataset("digits", "few", 1, seed, parameters=quick) for seed in range(6)]
    for outcome in make(runs, Store(folder), "table", jobs):
        print("made", outcome.run.seed, flush=True)
        sys.stdin.readline()
"""
SAME = ("test_accuracy", "test_macro_f1", "test_calibration_error", "best_epoch", "epochs", "settings")


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at /proc for the children")
def test_killed_midway_it_goes_on_and_repeats_nothing(tmp_path):
    """Two at a time until killed, then one at a time: all there, each once, and equal to a training in this process."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    folder = tmp_path / "results"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, script, folder, "2"],
        stdin=subprocess.PIPE,  # nothing comes through it: after its first run the script waits to be killed
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("made")
    orphans = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stdin.close()
    assert len(orphans) >= 2
    stored = [json.loads(line) for line in (folder / "table.jsonl").read_text().splitlines()]
    assert 1 <= len(stored) < len(RUNS)

    again = subprocess.run(
        [sys.executable, script, folder, "1"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    remade = [int(line.split()[1]) for line in again.stdout.splitlines()]
    assert not set(remade) & {record["seed"] for record in stored}
    records = [json.loads(line) for line in (folder / "table.jsonl").read_text().splitlines()]
    assert sorted(record["seed"] for record in records) == list(range(len(RUNS)))
    for record in records:
        here = execute(RUNS[record["seed"]]).record()
        assert {name: record[name] for name in SAME} == {name: here[name] for name in SAME}
    deadline = time.monotonic() + 600
    while any(map(alive, orphans)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(alive, orphans))


def test_a_run_that_fails_is_told_and_the_others_go_on(tmp_path, record):
    store = Store(tmp_path)
    runs = [
        RunSpec.on_dataset("digits", "public"),
        RunSpec.on_dataset("digits", "few", 1, method="label_spreading"),
        RUNS[0],
    ]
    store.add("table", record(RUNS[0]))  # done already: not made, not told
    begun = []
    outcomes = {outcome.run.dataset.split: outcome for outcome in make(runs, store, "table", started=begun.append)}
    assert begun == runs[:2]
    assert outcomes["public"].record is None
    assert "no public split" in (outcomes["public"].problem or "")
    assert outcomes["few"].record["method"] == "label_spreading"
    assert store.missing(runs) == [runs[0]]
    assert outcomes["few"].record["threads"] == 1


def test_with_nothing_to_do_no_process_is_begun(tmp_path, record, monkeypatch):
    store = Store(tmp_path)
    store.add("table", record(RUNS[0]))
    monkeypatch.setattr("ncgc_bench.pool.ProcessPoolExecutor", None)
    assert list(make(RUNS[:1], store, "table")) == []


def test_the_number_of_threads_is_put_back(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with _threads_in_children(3):
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "3"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("threads", [0, 1])
def test_ctrl_c_is_heard_after_the_work_whichever_thread_takes_it(threads):
    """With another thread about, the system may hand the signal to that one; Python then wakes the main one."""
    over = threading.Event()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer)  # a byte comes through it when any thread has taken the signal
    others = [threading.Thread(target=over.wait) for _ in range(threads)]
    for other in others:
        other.start()
    done = []
    try:
        with pytest.raises(KeyboardInterrupt), _interrupt_held():  # noqa: PT012
            os.kill(os.getpid(), signal.SIGINT)
            if threads:  # alone, this one takes it when the mask is lifted
                assert os.read(reader, 1) == bytes([signal.SIGINT])
            done.append("work")
        assert done == ["work"]
        with pytest.raises(KeyboardInterrupt):  # and as ever outside  # noqa: PT012
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                time.sleep(0.01)
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)
        over.set()
        for other in others:
            other.join()


def test_an_error_inside_is_not_hidden():
    with pytest.raises(ZeroDivisionError), _interrupt_held():
        1 / 0  # noqa: B018
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
