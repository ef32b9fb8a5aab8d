"""`ncgc train` and `ncgc fit` take the recipe of the backbone where nothing was given, and write it down."""

import tomllib
from types import SimpleNamespace

import pytest

from ncgc import NCGC
from ncgc.cli.commands.tune import settings_toml
from ncgc.params.ncgc import DEFAULTS
from ncgc.params.presets import BACKBONES, preset, recipe

SPECIAL = [name for name in BACKBONES if recipe({"backbone": name})]


def written(folder):
    return tomllib.loads((folder / "config.toml").read_text())


def in_toml(value):
    return "none" if value is None else value


def default(backbone):
    return {name: value for name, value in preset("default", backbone, "cora").items() if name != "backbone"}


@pytest.mark.parametrize("backbone", SPECIAL)
def test_fit_takes_them_and_its_config_repeats_the_run(fit, ncgc, tmp_path, backbone):
    result = fit("--backbone", backbone, out="one")
    assert result.code == 0, result.err
    model = NCGC.load(tmp_path / "one")
    parameters = written(tmp_path / "one")["parameters"]
    for name, value in default(backbone).items():
        assert getattr(model, name) == value
        assert parameters[name] == in_toml(value)
    again = ncgc("fit", "--config", tmp_path / "one" / "config.toml", "--out", tmp_path / "two", "--no-report")
    assert again.code == 0
    for name in ("predictions.csv", "config.toml", "model/weights.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_options_and_config_of_fit_win(fit, ncgc, tmp_path):
    fit("--backbone", "gcnii", "--num-layers", 3, out="one")
    model = NCGC.load(tmp_path / "one")
    assert (model.num_layers, model.weight_decay) == (3, default("gcnii")["weight_decay"])
    config = tmp_path / "one" / "config.toml"
    words = ("--no-report", "--out", tmp_path / "two", "--weight-decay", 0.01)
    assert ncgc("fit", "--config", config, *words).code == 0
    model = NCGC.load(tmp_path / "two")
    assert (model.num_layers, model.weight_decay) == (3, 0.01)


def test_fit_with_gcn_is_all_default(fit, tmp_path):
    fit()
    assert set(written(tmp_path / "run")["parameters"]) == {"epochs", "warmup", "ramp", "hidden"}


@pytest.mark.parametrize("backbone", [*SPECIAL, "gcn"])
def test_train_takes_them_and_its_config_repeats_the_run(quick, ncgc, tmp_path, backbone):
    first = quick("--backbone", backbone, "--out", tmp_path / "one")
    assert first.code == 0, first.err
    parameters = written(tmp_path / "one")["parameters"]
    for name, value in {**DEFAULTS, **default(backbone)}.items():
        if name not in ("backbone", "random_state", "epochs", "warmup", "ramp", "hidden"):
            assert parameters[name] == in_toml(value)
    again = ncgc("train", "--config", tmp_path / "one" / "config.toml", "--out", tmp_path / "two")
    assert again.code == 0
    for name in ("predictions.csv", "config.toml"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_options_and_config_of_train_win(quick, ncgc, tmp_path):
    quick("--backbone", "gcnii", "--num-layers", 3, "--out", tmp_path / "one")
    parameters = written(tmp_path / "one")["parameters"]
    assert (parameters["num_layers"], parameters["weight_decay"]) == (3, default("gcnii")["weight_decay"])
    config = tmp_path / "short.toml"
    config.write_text(
        'dataset = "digits"\nbackbone = "gcnii"\n[parameters]\nepochs = 3\nwarmup = 1\nramp = 1\nhidden = 8\nweight_decay = 0.1\n'
    )
    assert ncgc("train", "--config", config, "--out", tmp_path / "two").code == 0
    parameters = written(tmp_path / "two")["parameters"]
    assert (parameters["num_layers"], parameters["weight_decay"]) == (8, 0.1)


def test_what_tuning_writes_trains_what_was_tried():
    """Trials without heads of their own had one, and `ncgc train` must not make it eight."""
    base = {"backbone": "gat", "beta": 0.1}
    task = SimpleNamespace(dataset="digits", labels_per_class=2, splits=2)
    best = tomllib.loads(settings_toml(SimpleNamespace(task=task, done=3), 0.5, base))
    assert best["parameters"] == {"backbone": "gat", "heads": 1, "beta": 0.1}


def test_the_help_says_so(ncgc, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for verb in ("train", "fit"):
        out = " ".join(ncgc(verb, "--help").out.split())
        assert "Number of layers: from 1. Default 2 (gcnii 8, appnp 1)." in out
        assert "Default 1 (gat 8)." in out
