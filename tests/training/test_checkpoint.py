"""A training that was broken off goes on as if it had not been; what is damaged is named and not used."""

import shutil

import pytest
import torch

from ncgc.errors import CheckpointError
from ncgc.training.checkpoint import Checkpoints
from ncgc.training.snapshot import take

IDS = torch.arange(45)
OPTIONS = {"objective": {"prior": "estimated"}, "teacher": 0.9, "averaging": 0.5, "schedule": "late", "epochs": 14}


class Broken(Exception):
    """The power failed."""


def broken_off(make_trainer, checkpoints, at, **options):
    def fail(trainer, epoch):
        checkpoints.keep(trainer, epoch)
        if epoch == at:
            raise Broken

    trainer = make_trainer(**options)
    trainer.keep = fail
    with pytest.raises(Broken):
        trainer.run()


@pytest.mark.parametrize("validation", [True, False])
@pytest.mark.parametrize("at", [2, 9])  # in the warm-up, and with centroids
def test_resumed_is_unbroken_to_the_bit(make_trainer, tmp_path, validation, at):
    options = OPTIONS | {"validation": validation}
    unbroken = make_trainer(**options)
    expected = unbroken.run()
    checkpoints = Checkpoints(tmp_path, {"seed": 0}, IDS, every=2)
    broken_off(make_trainer, checkpoints, at, **options)
    resumed = make_trainer(**options)
    assert checkpoints.resume(resumed) == at - at % 2
    result = resumed.run()
    for column in ("total", "class", "kl", "pl"):
        assert result.history[column].tolist() == pytest.approx(expected.history[column].tolist(), abs=0, nan_ok=True)
    assert (result.best_epoch, result.termination) == (expected.best_epoch, expected.termination)
    state = unbroken.network.state_dict()
    assert all(torch.equal(value, state[name]) for name, value in resumed.network.state_dict().items())


def test_a_damaged_one_is_named_and_the_one_before_it_used(make_trainer, tmp_path):
    said = []
    checkpoints = Checkpoints(tmp_path, {}, IDS, every=2, warn=said.append)
    broken_off(make_trainer, checkpoints, 9, **OPTIONS)
    assert [folder.name for folder in checkpoints.found()] == ["epoch-000008", "epoch-000006"]
    state = tmp_path / "epoch-000008" / "state.safetensors"
    state.write_bytes(state.read_bytes()[:-7] + b"damaged")
    assert checkpoints.latest().epoch == 6
    assert said == [
        f"The checkpoint {tmp_path / 'epoch-000008'} is damaged (state.safetensors does not fit its checksum); the one before it is used."
    ]
    (tmp_path / "epoch-000006" / "checkpoint.json").write_text("{}")
    with pytest.raises(CheckpointError, match="Every checkpoint"):
        checkpoints.latest()


def test_none_and_another_training_are_sentences(make_trainer, tmp_path):
    checkpoints = Checkpoints(tmp_path / "none", {"seed": 1}, IDS, every=2)
    with pytest.raises(CheckpointError, match="There is no checkpoint"):
        checkpoints.latest()
    broken_off(make_trainer, checkpoints, 2, **OPTIONS)
    with pytest.raises(CheckpointError, match=r"of another training \(seed: 1 there, 2 here\)"):
        Checkpoints(tmp_path / "none", {"seed": 2}, IDS).latest()


def test_what_a_killed_writer_left_is_no_checkpoint(make_trainer, tmp_path):
    checkpoints = Checkpoints(tmp_path, {}, IDS, every=2)
    broken_off(make_trainer, checkpoints, 4, **OPTIONS)
    shutil.copytree(tmp_path / "epoch-000004", tmp_path / ".ncgc-epoch-000006")
    assert checkpoints.latest().epoch == 4
    broken_off(make_trainer, checkpoints, 6, **OPTIONS)
    assert checkpoints.latest().epoch == 6


def test_rows_find_their_nodes_in_whatever_order(make_trainer, tmp_path):
    checkpoints = Checkpoints(tmp_path, {}, IDS, every=2)
    trainer = make_trainer(**OPTIONS)
    trainer.keep = checkpoints.keep
    trainer.run()
    mean = take(trainer).rows["teacher"]
    some = torch.tensor([30, 2, 17])
    assert torch.equal(Checkpoints(tmp_path, {}, some).latest().rows["teacher"], mean[some])
