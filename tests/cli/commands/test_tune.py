"""`ncgc tune` as a person runs it."""

import builtins
import tomllib

import pytest

pytest.importorskip("optuna")
QUICK = ("--set", "epochs=3", "--set", "warmup=1", "--set", "ramp=1", "--set", "hidden=8", "--labels-per-class", "2",
         "--splits", "2", "--search", "beta,dropout,norm")  # fmt: skip


@pytest.fixture
def tune(ncgc, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: ncgc("tune", "digits", *QUICK, *words)


def test_trials_are_shown_and_the_best_is_written(tune, ncgc, tmp_path):
    done = tune("--trials", 2, "--out", tmp_path / "best.toml")
    assert (done.code, done.err) == (0, "")
    assert "1/2" in done.out
    assert "2/2" in done.out
    assert "(best)" in done.out
    assert (tmp_path / "runs" / "tune-digits-gcn.db").is_file()
    text = (tmp_path / "best.toml").read_text()
    assert text in done.out
    best = tomllib.loads(text)
    assert best["parameters"]["epochs"] == 3
    assert {"beta", "dropout", "norm"} <= set(best["parameters"])
    trained = ncgc("train", "--config", tmp_path / "best.toml", "--json")
    assert trained.code == 0


def test_the_same_command_goes_on(tune):
    assert tune("--trials", 1).code == 0
    again = tune("--trials", 2)
    assert again.code == 0
    assert "1 of 2 trials done" in again.out
    assert "2/2" in again.out
    assert "1/2" not in again.out
    nothing = tune("--trials", 2)
    assert nothing.code == 0
    assert "2/2" not in nothing.out
    assert "[parameters]" in nothing.out


def test_ctrl_c_is_130_and_a_sentence(tune, monkeypatch):
    from ncgc.selection.tuning.scoring import Case

    def interrupt(*_):
        raise KeyboardInterrupt

    assert tune("--trials", 1).code == 0
    with monkeypatch.context() as patch:
        patch.setattr(Case, "score", interrupt)
        stopped = tune("--trials", 3)
    assert stopped.code == 130
    assert stopped.err == "Interrupted after 1 of 3 trials; the same command resumes from there.\n"
    assert tune("--trials", 2).code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--search", "bta"), "Unknown parameter to search 'bta'; did you mean 'beta'?"),
        (("--search", "heads"), "has no effect with the backbone 'gcn'"),
        (("--search", ","), "There is nothing to search"),
        (("--search", "hidden"), "both fixed with --set and searched"),
        (("--set", "epochs"), "--set takes NAME=VALUE"),
        (("--set", "epoch=3"), "did you mean 'epochs'?"),
        (("--set", "dropout=2"), "must be a float in the range [0.0, 1.0)"),
        (("--set", "backbone=gat"), "has an option of its own"),
        (("--backbone", "gnc"), "did you mean 'gcn'?"),
        (("--settings", "defalt"), "did you mean 'default'?"),
        (("--trials", "0"), "--trials must be a whole number from 1"),
        (("--jobs", "0"), "--jobs must be a whole number from 1"),
        (("--labels-per-class", "500"), "ask for fewer"),
        (("--out", "no/such/folder.toml"), "a folder that exists"),
        (("--storage", "."), "cannot be kept in"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(tune, words, sentence):
    done = tune(*words)
    assert done.code == 2
    assert sentence in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


def test_an_unknown_data_set_gets_a_sentence(ncgc):
    done = ncgc("tune", "digit")
    assert done.code == 2
    assert "did you mean 'digits'" in done.err


def test_switches_can_be_fixed(tune, tmp_path):
    done = tune("--trials", 1, "--set", "kl=off", "--set", "pl=true", "--out", tmp_path / "best.toml")
    assert done.code == 0
    parameters = tomllib.loads((tmp_path / "best.toml").read_text())["parameters"]
    assert (parameters["kl"], parameters["pl"]) == (False, True)


def test_without_optuna_a_sentence_says_how_to_get_it(tune, monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name.split(".")[0] == "optuna":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    done = tune("--trials", 1)
    assert done.code == 2
    assert done.err == "Error: Tuning needs Optuna; install it with: pip install 'ncgc[tune]'.\n"
