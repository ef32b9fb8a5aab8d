"""From a parameter to an option and back; --method and --set in train and in fit."""

from __future__ import annotations

import csv
import json
import tomllib

import pytest

from ncgc.cli.commands.train import RUN
from ncgc.cli.options import HYPER_PARAMETERS as HYPER
from ncgc.cli.options import given_parameters, option, value_of
from ncgc.errors import ParameterError


@pytest.mark.parametrize("parameter", (RUN | HYPER).values(), ids=lambda parameter: parameter.name)
def test_default_as_text_is_the_default(parameter):
    if parameter.kind is bool:
        assert value_of(parameter, parameter.default) is parameter.default
    else:
        text = "none" if parameter.default is None else str(parameter.default)
        assert value_of(parameter, text) == parameter.default
    assert parameter.allows(parameter.default)


@pytest.mark.parametrize("parameter", (RUN | HYPER).values(), ids=lambda parameter: parameter.name)
def test_not_given_is_none(parameter):
    assert option(parameter).default is None


def test_numbers_with_commas_only_where_an_array_is_allowed():
    assert value_of(HYPER["prior"], "0.2,0.8") == (0.2, 0.8)
    assert value_of(HYPER["prior"], "0.2,x") == "0.2,x"
    assert value_of(HYPER["backbone"], "gcn,gat") == "gcn,gat"
    assert not HYPER["backbone"].allows(("gcn", "gat"))


# ---------------------------------------------------------------- --method and --set


def test_options_become_values_of_the_methods_own_kinds():
    assert given_parameters({"hidden": "8"}, ["dropout=0.25", "patience=none"], "gcn") == {
        "hidden": 8,
        "dropout": 0.25,
        "patience": None,
    }


@pytest.mark.parametrize(
    ("texts", "sets", "sentence"),
    [
        ({"beta": "0.1"}, [], "gcn has no parameter 'beta'"),
        ({}, ["hiden=3"], "did you mean 'hidden'"),
        ({}, ["hidden"], "--set takes NAME=VALUE"),
        ({}, ["hidden=0"], "The 'hidden' parameter of GCN must be an int in the range"),
        ({}, ["hidden=wide"], "hidden"),
    ],
)
def test_wrong_ones_are_sentences(texts, sets, sentence):
    with pytest.raises(ParameterError, match=sentence):
        given_parameters(texts, sets, "gcn")


def test_train_takes_a_method_and_repeats_it(ncgc, tmp_path):
    first = ncgc(
        "train", "digits", "--method", "label_spreading", "--set", "alpha=0.5", "--out", tmp_path / "a", "--json"
    )
    assert first.code == 0, first.err
    assert (first.json["method"], first.json["backbone"]) == ("label_spreading", None)
    config = tomllib.loads((tmp_path / "a" / "config.toml").read_text())
    assert config["method"] == "label_spreading"
    assert config["parameters"]["alpha"] == 0.5
    again = ncgc("train", "--config", tmp_path / "a" / "config.toml", "--json")
    assert again.json["test_accuracy"] == first.json["test_accuracy"]
    other = ncgc("train", "--config", tmp_path / "a" / "config.toml", "--method", "logistic_regression", "--json")
    assert other.json["method"] == "logistic_regression"


def test_train_says_what_is_wrong(ncgc):
    for words, sentence in (
        (["--method", "labelspreading"], "did you mean 'label_spreading'"),
        (["--method", "gcn", "--beta", "1"], "gcn has no parameter 'beta'"),
        (["--method", "gcn", "--settings", "paper"], "are NCGC's"),
    ):
        result = ncgc("train", "digits", *words)
        assert result.code == 2
        assert sentence in result.err


@pytest.fixture
def tables(tmp_path):
    """Two cliques of ten nodes joined by an edge; three labels in each."""
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    with nodes.open("w", newline="") as file:
        rows = [[f"n{i}", ("left", "right")[i // 10] if i % 10 < 3 else "", i // 10 + 0.1 * (i % 3)] for i in range(20)]
        csv.writer(file).writerows([["id", "label", "x"], *rows])
    with edges.open("w", newline="") as file:
        pairs = [(i, j) for i in range(20) for j in range(i) if i // 10 == j // 10] + [(0, 10)]
        csv.writer(file).writerows([["source", "target"], *([f"n{i}", f"n{j}"] for i, j in pairs)])
    return ["--nodes", nodes, "--edges", edges]


def test_fit_takes_a_method_and_repeats_it(ncgc, tables, tmp_path):
    result = ncgc("fit", *tables, "--method", "label_spreading", "--out", tmp_path / "a", "--folds", 0)
    assert result.code == 0, result.err
    assert "labels only the nodes of its own graph: no model" in " ".join(result.out.split())
    assert not (tmp_path / "a" / "model").exists()
    assert "label_spreading" in (tmp_path / "a" / "report.html").read_text()
    again = ncgc("fit", "--config", tmp_path / "a" / "config.toml", "--out", tmp_path / "b")
    assert again.code == 0, again.err
    first, second = (list(csv.DictReader((tmp_path / name / "predictions.csv").open())) for name in "ab")
    assert first == second
    assert [row["label"] for row in first] == ["left"] * 10 + ["right"] * 10


def test_predict_and_label_say_why_there_is_no_model(ncgc, tables, tmp_path):
    ncgc("fit", *tables, "--method", "label_spreading", "--out", tmp_path / "a", "--folds", 0, "--no-report")
    for words in (
        ["predict", tmp_path / "a", *tables],
        ["predict", tmp_path / "a" / "model", *tables],
        ["label", tmp_path / "a"],
    ):
        result = ncgc(*words)
        assert result.code == 2
        assert "the method of this run leaves no model" in result.err


def test_a_trained_method_leaves_a_model_for_new_nodes(ncgc, tables, tmp_path):
    words = ["--method", "appnp", "--set", "epochs=60", "--out", tmp_path / "a", "--folds", 0, "--no-report"]
    fitted = ncgc("fit", *tables, *words)
    assert fitted.code == 0, fitted.err
    assert "no model" not in fitted.out
    (tmp_path / "new.csv").write_text("id,x\nm0,0.1\nm1,1.1\n")
    (tmp_path / "links.csv").write_text("source,target\nm0,n3\nm0,n4\nm1,n13\nm1,n14\n")
    new = ["--nodes", tmp_path / "new.csv", "--edges", tmp_path / "links.csv", "--out", tmp_path / "p.csv"]
    result = ncgc("predict", tmp_path / "a", *new)
    assert result.code == 0, result.err
    rows = list(csv.DictReader((tmp_path / "p.csv").open()))
    assert [(row["id"], row["label"]) for row in rows] == [("m0", "left"), ("m1", "right")]
    assert rows[0]["cluster"] == ""
    assert ncgc("label", tmp_path / "a", "--csv").out.count("\n") == 1 + 14


def test_fit_chooses_a_method(ncgc, tables, tmp_path):
    words = ["--method", "auto", "--out", tmp_path / "a", "--folds", 0]
    result = ncgc("fit", *tables, *words, "--budget", 1e-9)
    assert result.code == 0, result.err
    assert "label_spreading: 100.0 % of 6 held-out labels" in " ".join(result.out.split())
    choice = json.loads((tmp_path / "a" / "metrics.json").read_text())["choice"]
    assert choice["method"] == "label_spreading"
    assert choice["left_out"] == ["logistic_regression", "sgc", "mlp_ppr", "appnp", "ncgc"]
    assert 'method = "label_spreading"' in (tmp_path / "a" / "config.toml").read_text()
    assert (
        "label_spreading was chosen: 100.0 % of 6 held-out labels right" in (tmp_path / "a" / "report.html").read_text()
    )
    refused = ncgc("fit", *tables, "--method", "auto", "--hidden", 8, "--out", tmp_path / "b")
    assert refused.code == 2
    assert "takes no parameters" in refused.err
