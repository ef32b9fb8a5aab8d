"""A training that was broken off goes on as if it had not been; what is damaged is named and not used."""

import shutil
from pathlib import Path

import pytest
import torch

from ncgc.errors import CheckpointError, OutputError
from ncgc.training.checkpoint import Checkpoints, Single, Snapshot

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


def flipped(path):
    """One bit in the middle of a file is another."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path):
    path.write_bytes(b"")


def made_a_list(path):
    path.write_text("[]")


@pytest.mark.parametrize(
    ("name", "damage", "reason"),
    [
        ("state.safetensors", flipped, "state.safetensors does not fit its checksum"),
        ("rows-0.safetensors", cut, "rows-0.safetensors does not fit its checksum"),
        ("rows-0.safetensors", Path.unlink, "No such file"),
        ("checkpoint.json", flipped, ""),
        ("checkpoint.json", cut, ""),
        ("checkpoint.json", emptied, "Expecting value"),
        ("checkpoint.json", made_a_list, ""),
    ],
)
def test_a_damaged_one_is_named_and_the_one_before_it_used(written, name, damage, reason):
    said = []
    checkpoints = Checkpoints(written, {}, IDS, every=2, warn=said.append)
    assert [folder.name for folder in checkpoints.found()] == ["epoch-000008", "epoch-000006"]
    damage(written / "epoch-000008" / name)
    assert checkpoints.latest().epoch == 6
    (sentence,) = said
    assert sentence.startswith(f"The checkpoint {written / 'epoch-000008'} is damaged (")
    assert sentence.endswith("); the one before it is used.")
    assert reason in sentence
    damage(written / "epoch-000006" / name)
    with pytest.raises(CheckpointError, match=r"Every checkpoint .* is damaged \(epoch-000008, epoch-000006\)"):
        checkpoints.latest()


@pytest.fixture
def written(make_trainer, tmp_path):
    """A folder with the checkpoints of epochs 6 and 8."""
    broken_off(make_trainer, Checkpoints(tmp_path, {}, IDS, every=2), 9, **OPTIONS)
    return tmp_path


def test_after_a_damaged_one_the_last_two_whole_ones_are_kept(make_trainer, written):
    flipped(written / "epoch-000008" / "state.safetensors")
    checkpoints = Checkpoints(written, {}, IDS, every=7)  # other epochs than those of before
    trainer = make_trainer(**OPTIONS)
    assert checkpoints.begin(trainer, resume=True) == 6
    trainer.keep = checkpoints.keep
    checkpoints.write(Snapshot.take(trainer))
    assert [folder.name for folder in checkpoints.found()] == ["epoch-000006"]
    trainer.run()
    assert [folder.name for folder in checkpoints.found()] == ["epoch-000014", "epoch-000007"]


def test_where_another_process_cannot_read_one_all_use_the_one_before(written):
    class Peers(Single):
        """Another process that finds epoch 6 alone whole."""

        def counts(self, number):
            return [number, 6]

    said = []
    assert Checkpoints(written, {}, IDS, peers=Peers(), warn=said.append).latest().epoch == 6
    assert said == [
        f"The checkpoint {written / 'epoch-000008'} is damaged (another process cannot read it); the one before it is used."
    ]


def test_how_it_begins(make_trainer, written, tmp_path):
    """Killed before the first checkpoint, `--resume` starts anew; without it, old checkpoints are not mixed with new ones."""
    said = []
    empty = Checkpoints(tmp_path / "new", {}, IDS, warn=said.append)
    assert empty.begin(make_trainer(**OPTIONS), resume=True) == 0
    assert said == [f"There is no checkpoint in {tmp_path / 'new'} yet; training starts with the first epoch."]
    assert empty.begin(make_trainer(**OPTIONS), resume=False) == 0
    with pytest.raises(CheckpointError, match="has checkpoints already, the latest epoch-000008; add --resume"):
        Checkpoints(written, {}, IDS).begin(make_trainer(**OPTIONS), resume=False)


def test_a_folder_that_only_some_see_is_a_sentence(make_trainer, tmp_path):
    class Peers(Single):
        def counts(self, number):
            return [number, number + 2]

    with pytest.raises(CheckpointError, match="Not every process sees"):
        Checkpoints(tmp_path, {}, IDS, peers=Peers()).begin(make_trainer(**OPTIONS), resume=True)


def test_what_cannot_be_written_is_a_sentence(make_trainer, tmp_path):
    class Elsewhere(Single):
        """The second process, on a machine where the first one's folder is not."""

        rank, size = 1, 2

    (tmp_path / "file").write_text("")
    trainer = make_trainer(**OPTIONS)
    for folder, peers in ((tmp_path / "file", Single()), (tmp_path / "not shared", Elsewhere())):
        with pytest.raises(OutputError, match="cannot be written to"):
            Checkpoints(folder, {}, IDS, peers=peers).write(Snapshot.take(trainer))


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
    mean = Snapshot.take(trainer).state.rows["teacher"]
    some = torch.tensor([30, 2, 17])
    assert torch.equal(Checkpoints(tmp_path, {}, some).latest().state.rows["teacher"], mean[some])
