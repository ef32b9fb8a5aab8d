"""`ncgc train`: the JSON contract, files, settings from three places, and everything that can go wrong."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from ncgc import __version__
from ncgc.training import Trainer
from ncgc.training.engines.full_batch import FullBatch

FILES = ["config.toml", "history.csv", "metrics.json", "predictions.csv"]


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def without_seconds(history):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(history.open())]


def forget_seconds(metrics):
    for measured in (metrics, *metrics.get("runs", ())):
        measured.pop("seconds")
        measured.pop("peak_mib")
    return metrics


# ---------------------------------------------------------------- what it shows


def test_json_contract(quick):
    result = quick("--json", "--seed", 3)
    assert result.code == 0
    assert result.out.count("\n") == 1  # nothing but the object
    assert "NaN" not in result.out
    found = result.json
    keys = (
        "dataset method backbone split seed labels_per_class val_accuracy test_accuracy test_macro_f1 "
        "test_calibration_error best_epoch epochs seconds peak_mib loss"
    )
    assert set(found) == {*keys.split(), "termination", "prior", "version"}
    assert (found["dataset"], found["backbone"], found["split"], found["seed"]) == ("digits", "gcn", "random", 3)
    assert (found["labels_per_class"], found["epochs"], found["version"]) == (20, 6, __version__)
    assert 0 < found["test_accuracy"] <= 1
    assert 0 < found["val_accuracy"] <= 1
    assert 1 <= found["best_epoch"] <= 6
    assert set(found["loss"]) == {"class", "kl", "pl", "total"}
    assert found["termination"] == "all epochs done"
    assert sum(found["prior"]) == pytest.approx(1)
    assert "1,797 nodes" in result.err  # people read stderr then


def test_loss_parts_that_were_off_are_null(quick):
    found = quick("--json", "--no-kl", "--no-pl").json
    assert found["loss"]["kl"] is None
    assert found["loss"]["pl"] is None
    assert found["loss"]["total"] == found["loss"]["class"]


def test_no_validation_nodes_is_null(quick):
    found = quick("--json", "--split", "few").json
    assert found["val_accuracy"] is None
    assert found["labels_per_class"] == 1


def test_several_runs_take_the_next_seeds(quick):
    found = quick("--json", "--runs", 2, "--seed", 4).json
    assert [run["seed"] for run in found["runs"]] == [4, 5]
    accuracies = [run["test_accuracy"] for run in found["runs"]]
    assert found["test_accuracy"] == pytest.approx(np.mean(accuracies))
    assert found["test_accuracy_std"] == pytest.approx(np.std(accuracies, ddof=1))
    alone = quick("--json", "--seed", 5).json
    assert alone["test_accuracy"] == accuracies[1]


def test_people_see_graph_split_model_and_result(quick):
    result = quick()
    assert result.code == 0
    assert "digits   1,797 nodes, 12,339 edges, 64 features, 10 classes\n" in result.out
    assert "split    random: 200 train, 300 val, 1,297 test\n" in result.out
    assert "model    gcn 2 × 8, " in result.out
    assert "test " in result.out
    assert result.err == ""


def test_quiet_shows_the_result_alone(quick):
    result = quick("--quiet")
    assert result.out.startswith("test ")
    assert result.out.count("\n") == 1
    assert quick("--quiet", "--json").err == ""


# ---------------------------------------------------------------- what it writes


def test_no_out_no_files(quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick()
    assert list(tmp_path.iterdir()) == []


def test_out_is_complete(quick, tmp_path):
    result = quick("--out", tmp_path / "a" / "b", "--json")
    folder = tmp_path / "a" / "b"
    assert names(folder) == FILES
    assert names(folder.parent) == ["b"]  # no temporary left
    assert json.loads((folder / "metrics.json").read_text()) == result.json
    assert len(without_seconds(folder / "history.csv")) == 6
    rows = list(csv.DictReader((folder / "predictions.csv").open()))
    assert len(rows) == 1797
    assert sum(row["source"] == "given" for row in rows) == 200
    assert str(folder) in result.err


def test_the_written_config_repeats_the_run(quick, ncgc, tmp_path):
    shares = ",".join(["0.1"] * 10)
    options = ("--prior", shares, "--norm", "layer", "--no-kl", "--beta", "0.01", "--runs", 2, "--seed", 7)
    first = quick(*options, "--split", "few", "--val-per-class", 3, "--out", tmp_path / "first", "--json")
    again = ncgc("train", "--config", tmp_path / "first" / "config.toml", "--out", tmp_path / "again", "--json")
    assert (first.code, again.code) == (0, 0)
    assert forget_seconds(again.json) == forget_seconds(first.json)
    assert names(tmp_path / "first") == names(tmp_path / "again")
    for seed in (7, 8):
        name = f"history-{seed}.csv"
        assert without_seconds(tmp_path / "again" / name) == without_seconds(tmp_path / "first" / name)
    for name in ("config.toml", "predictions-7.csv", "predictions-8.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()


def test_command_line_over_config_over_default(ncgc, tmp_path):
    config = tmp_path / "my.toml"
    config.write_text(
        'dataset = "digits"\nseed = 2\nsplit = "few"\n[parameters]\nepochs = 3\nwarmup = 1\nramp = 1\nhidden = 8\n'
    )
    out = tmp_path / "out"
    found = ncgc("train", "--config", config, "--epochs", 4, "--out", out, "--json").json
    assert (found["epochs"], found["seed"], found["split"]) == (4, 2, "few")
    written = (out / "config.toml").read_text()
    assert "hidden = 8\n" in written
    assert "num_layers = 2\n" in written


def test_out_with_files_in_it_is_refused_before_training(quick, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "run", lambda self: pytest.fail("it trained"))
    (tmp_path / "letter.txt").write_text("dear")
    result = quick("--out", tmp_path)
    assert result.code == 2
    assert result.err.startswith("Error: The output folder")
    assert "--overwrite" in result.err


def test_overwrite_replaces_results_and_nothing_else(quick, tmp_path):
    out = tmp_path / "out"
    quick("--out", out, "--runs", 2)
    (out / "letter.txt").write_text("dear")
    assert quick("--out", out, "--overwrite").code == 0
    assert names(out) == sorted([*FILES, "letter.txt"])


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--beta", "-1"), "The 'beta' parameter of NCGC must be a float in the range [0.0, inf). Got -1.0 instead."),
        (
            ("--hidden", "many"),
            "The 'hidden' parameter of NCGC must be an int in the range [1, inf). Got 'many' instead.",
        ),
        (("--hidden", "1.5"), "Got '1.5' instead."),
        (("--dropout", "nan"), "'dropout'"),
        (("--backbone", "gnc"), "did you mean 'gcn'?"),
        (("--split", "randon"), "did you mean 'random'?"),
        (("--norm", "bach"), "did you mean 'batch'?"),
        (("--prior", "1,2"), "10 non-negative shares"),
        (("--seed", "-1"), "The 'seed' parameter of ncgc train must be"),
        (("--seed", "99999999999999999999"), "'seed'"),
        (("--runs", "0"), "'runs'"),
        (("--labels-per-class", "0"), "'labels_per_class'"),
        (("--labels-per-class", "5000"), "5000"),
        (("--split", "public"), "no public split"),
        (("--split", "paper", "--val-per-class", "3"), "val_per_class"),
        (("--backbone", "gat", "--heads", "3"), "'heads'"),
        (("--config", "missing.toml"), "missing.toml"),
        (("--data", "missing"), "missing"),
    ],
)
def test_bad_input_is_one_sentence(quick, options, part):
    result = quick(*options)
    assert result.code == 2
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert part in result.err
    assert "Traceback" not in result.err + result.out


def test_unknown_data_set(ncgc):
    result = ncgc("train", "coraa")
    assert result.code == 2
    assert "did you mean 'cora'?" in result.err


def test_no_data_set_at_all(ncgc):
    result = ncgc("train")
    assert result.code == 2
    assert "digits, cora" in result.err


def test_missing_data_lists_the_places(ncgc, tmp_path):
    place = tmp_path / "empty"
    place.mkdir()
    result = ncgc("train", "cora", "--data", place)
    assert result.code == 2
    assert str(place) in result.err
    assert str(tmp_path / "cache") in result.err
    assert "there is no network" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_out_that_cannot_be_is_one_sentence(quick, tmp_path, out):
    (tmp_path / "file").write_text("")
    result = quick("--out", tmp_path / out)
    assert result.code == 2
    assert result.err.startswith("Error: The ")
    assert result.err.count("\n") == 1


def test_typo_in_config_names_file_and_key(ncgc, tmp_path):
    config = tmp_path / "my.toml"
    config.write_text('dataset = "digits"\n[parameters]\nbetta = 1\n')
    result = ncgc("train", "--config", config)
    assert result.code == 2
    assert result.err == f"Error: {config}: Unknown key 'betta'; did you mean 'beta'?\n"


def test_loss_not_finite_is_one_line_and_keeps_the_results(quick, tmp_path, monkeypatch):
    step = FullBatch.step
    monkeypatch.setattr(FullBatch, "step", lambda self, epoch: None if epoch == 4 else step(self, epoch))
    result = quick("--json", "--quiet", "--out", tmp_path / "out")
    assert result.code == 0
    assert result.json["termination"] == "the loss was not finite in epoch 4"
    assert result.json["epochs"] == 3
    assert result.err.startswith("Warning: The loss was not finite in epoch 4; the weights of epoch")
    assert result.err.count("\n") == 1
    assert names(tmp_path / "out") == FILES


# ---------------------------------------------------------------- Ctrl-C


def test_ctrl_c_in_training_keeps_what_there_is(interrupted, tmp_path):
    out = tmp_path / "out"
    long = ("--epochs", 100000, "--patience", 100000, "--runs", 3)
    result = interrupted("train", "digits", *long, "--out", out, "--json", after=" epoch ")
    assert result.code == 130
    assert "Traceback" not in result.err
    found = result.json
    assert found["termination"] == "interrupted"
    assert [run["seed"] for run in found["runs"]] == [0]
    assert json.loads((out / "metrics.json").read_text()) == found
    assert names(out) == ["config.toml", "history-0.csv", "metrics.json", "predictions-0.csv"]
    assert len(without_seconds(out / "history-0.csv")) == found["runs"][0]["epochs"]
    assert "Interrupted after epoch" in result.err
    assert "2 runs not started" in result.err
    assert names(tmp_path) == ["out"]


def test_ctrl_c_between_runs_keeps_the_finished_ones(quick, tmp_path, monkeypatch):
    from ncgc.runs import load

    make_split = load.make_split

    def stop_at_second(graph, kind, *, seed, **sizes):
        if seed == 1:
            raise KeyboardInterrupt
        return make_split(graph, kind, seed=seed, **sizes)

    monkeypatch.setattr(load, "make_split", stop_at_second)
    result = quick("--runs", 3, "--out", tmp_path / "out")
    assert result.code == 130
    assert result.err == "Interrupted after seed 0; 2 runs not started.\n"
    assert "history-0.csv" in names(tmp_path / "out")
