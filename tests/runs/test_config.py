"""Configurations: read, refused, laid over each other, and written."""

from __future__ import annotations

import numpy as np
import pytest

from ncgc.errors import NCGCError, ParameterError
from ncgc.runs.config import HYPER, RUN, RunConfig, read_config


def refused(path, text):
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NCGCError) as caught:
        read_config(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


def test_reads_what_is_there_and_no_more(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(
        'dataset = "digits"\nbackbone = "gat"\nruns = 3\n[parameters]\nbeta = 1\nnorm = "none"\nprior = [1, 3]\n'
    )
    assert read_config(path) == {
        "dataset": "digits",
        "backbone": "gat",
        "runs": 3,
        "beta": 1,
        "norm": None,
        "prior": [1, 3],
    }


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("betta = 1", "Unknown key 'betta'; did you mean 'beta'?"),
        ("datset = 'digits'", "did you mean 'dataset'?"),
        ("[parameters]\ndroput = 0.1", "Unknown key 'droput'; did you mean 'dropout'?"),
        ("[paramters]\nbeta = 1", "did you mean 'parameters'?"),
        ("beta = 1", "the key 'beta' belongs in the table [parameters]"),
        ("[parameters]\nseed = 1", "the key 'seed' belongs at the top"),
        ("[parameters]\nrandom_state = 1", "is called 'seed'"),
        (
            "[parameters]\nbeta = -1",
            "The 'beta' parameter of NCGC must be a float in the range [0.0, inf). Got -1 instead.",
        ),
        ("[parameters]\nbeta = true", "Got True instead."),
        ("[parameters]\nbeta = 1979-05-27", "'beta'"),
        ("[parameters]\nkl = 1", "true or false"),
        ("[parameters]\nhidden = 1" + 400 * "0", "'hidden'"),
        ("backbone = ['gcn']", "'backbone'"),
        ("dataset = 'coraa'", "did you mean 'cora'?"),
        ("dataset = 3", "Unknown data set 3"),
        ("split = 'fwe'", "did you mean 'few'?"),
        ("parameters = 3", "must be a table"),
    ],
)
def test_refused_with_file_key_and_remedy(tmp_path, text, part):
    assert part in refused(tmp_path / "a.toml", text)


def test_invalid_toml_names_the_line(tmp_path):
    assert "line 2" in refused(tmp_path / "a.toml", "seed = 1\nsplit = \n")


def test_what_is_no_text_or_no_file(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ParameterError, match="UTF-8"):
        read_config(tmp_path / "a.toml")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_config(tmp_path / "b.toml")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_config(tmp_path)


def test_later_layers_win_over_earlier_ones():
    config = RunConfig.from_layers({"dataset": "cora", "beta": 0.1, "seed": 1}, {"beta": 0.2}, {"dataset": "Digits"})
    assert (config.dataset, config.seed, config.parameters["beta"]) == ("digits", 1, 0.2)
    assert config.parameters["hidden"] == HYPER["hidden"].default
    assert config.split == RUN["split"].default


def test_an_unknown_layer_key_is_refused():
    with pytest.raises(ParameterError, match="did you mean 'beta'"):
        RunConfig.from_layers({"dataset": "digits", "betta": 1})


@pytest.mark.parametrize(
    "layer",
    [
        {},
        {"prior": (0.1, 0.9), "norm": "batch", "backbone": "appnp"},
        {"prior": np.array([0.25, 0.75]), "beta": 1 / 3, "kl": False},
        {"labels_per_class": 3, "val_per_class": 0, "split": "few", "seed": 5, "runs": 4},
    ],
)
def test_written_and_read_it_is_the_same(tmp_path, layer):
    config = RunConfig.from_layers({"dataset": "digits"}, layer)
    path = tmp_path / "a.toml"
    config.save(path, drawn=[{"seed": 0, "weights": 1, "dropout": 2, "centroids": 3}])
    again = RunConfig.from_layers(read_config(path))
    for name in RUN:
        assert getattr(again, name) == getattr(config, name)
    for name, value in config.parameters.items():
        assert np.array_equal(again.parameters[name], value), name
    assert "weights = 1" in path.read_text()


def test_seeds_follow_each_other():
    assert RunConfig.from_layers({"dataset": "digits", "seed": 3, "runs": 3}).seeds == [3, 4, 5]
