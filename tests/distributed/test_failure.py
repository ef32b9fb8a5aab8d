"""A process that is killed is a sentence in the others, soon; the training then goes on to the loss of an unbroken one."""

import os
import signal
import time

import numpy as np
import pytest

from ncgc import NCGC
from ncgc.distributed.fitting import fit_with_checkpoints
from ncgc.distributed.group import Group
from ncgc.errors import ParameterError

SHORT = {"epochs": 12, "warmup": 2, "ramp": 2, "hidden": 8, "sinkhorn_iterations": 1, "prior": "estimated"}


def training(planted, folder, resume=False, kill=None, said=None):
    """A training for ``in_processes``; ``kill`` is the epoch and rank of a process that dies."""

    def run(group):
        def watch(epoch, quantities):
            group.where = f"in epoch {epoch + 1}"
            if kill == (epoch, group.rank):
                os.kill(os.getpid(), signal.SIGKILL)

        sentences = []
        model = fit_with_checkpoints(
            NCGC(**SHORT), *planted, group, watch, folder, every=2, resume=resume, warn=sentences.append
        )
        return model.history_["total"].tolist(), sentences

    return run


@pytest.fixture(scope="module")
def unbroken(make_planted):
    return training(make_planted(), None)(Group())[0]


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_process_is_a_sentence_and_the_training_goes_on(
    make_planted, raw_processes, in_processes, tmp_path, unbroken, victim
):
    planted = make_planted()
    began = time.monotonic()
    found = raw_processes(training(planted, tmp_path, kill=(7, victim)), 2, timeout=15.0)
    assert time.monotonic() - began < 30
    assert found[victim] == (None, "killed")
    good, message = found[1 - victim]
    assert good is False
    assert message.startswith(f"PeerError: Process {1 - victim} of 2 lost another process in epoch 8 (")
    if victim == 0:  # the latest is damaged on top of that
        state = tmp_path / "epoch-000006" / "rows-1.safetensors"
        state.write_bytes(b"nothing" + state.read_bytes()[7:])
    losses, sentences = in_processes(training(planted, tmp_path, resume=True), 2)[0]
    assert losses == pytest.approx(unbroken, abs=1e-4)
    assert bool(sentences) == (victim == 0)


def test_another_number_of_processes_may_go_on(make_planted, raw_processes, tmp_path, unbroken):
    planted = make_planted()
    raw_processes(training(planted, tmp_path, kill=(5, 1)), 2, timeout=15.0)
    losses, _ = training(planted, tmp_path, resume=True)(Group())
    assert losses == pytest.approx(unbroken, abs=1e-4)


def test_one_who_does_not_come_is_a_sentence(raw_processes):
    def late(group):
        if group.rank == 1:
            time.sleep(4)
        return group.summed(__import__("torch").ones(1)).tolist()

    good, message = raw_processes(late, 2, timeout=1.0)[0]
    assert good is False
    assert message.startswith("PeerError: Process 0 of 2 lost another process at the start (")


def test_half_an_environment_is_a_sentence(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ParameterError, match="not RANK"):
        Group.join(1.0)


def test_nobody_else_there_is_a_sentence(monkeypatch):
    from ncgc.errors import PeerError

    for name, value in {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(PeerError, match=r"Process 0 of 2 could not meet the others at 127\.0\.0\.1:0 within 1 s"):
        Group.join(1.0)


def test_gathering_puts_rows_where_they_belong(in_processes):
    import torch

    def gather(group):
        return [rows.tolist() for rows in group.gathered(torch.arange(group.rank + 1))]

    assert in_processes(gather, 3) == [[[0], [0, 1], [0, 1, 2]], [], []]
    assert np.array_equal(Group().gathered(torch.ones(2))[0], np.ones(2))
