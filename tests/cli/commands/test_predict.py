"""`ncgc predict`: from a saved model and new tables to labels, and a sentence for everything else."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ncgc import NCGC
from ncgc.io import read_graph
from ncgc.io.tables.new_nodes import attach_nodes
from ncgc.io.tables.read_graph import TableSchema
from ncgc.models.stored import save_model


def tables(first, last, seed=0):
    """Two kinds of people, told by height and town and who knows whom: their rows, and each one's edge to the one before last."""
    generator = np.random.default_rng(seed)
    numbers = np.arange(first, last)
    kind = numbers % 2
    nodes = pd.DataFrame(
        {
            "person": [f"p{i}" for i in numbers],
            "kind": np.where(kind == 0, "cat", "dog"),
            "height": kind * 3.0 + generator.normal(size=len(numbers)),
            "town": np.where(generator.random(len(numbers)) < 0.8, kind, 1 - kind).astype(str),
        }
    )
    pairs = [(f"p{i}", f"p{i - 2}") for i in numbers if i >= 2]
    return nodes, pd.DataFrame(pairs, columns=["who", "whom"])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a model, and tables of new nodes for it."""
    root = tmp_path_factory.mktemp("predict")
    nodes, edges = tables(0, 40)
    found = read_graph(nodes, edges, id="person", label="kind", source="who", target="whom")
    model = NCGC(hidden=8, epochs=30, warmup=5, ramp=5).fit(found.graph)
    model.calibrate(2)
    save_model(model, root / "run" / "model", extra=TableSchema.of(found).to_dict())
    new, links = tables(40, 60, seed=1)
    new.to_csv(root / "labelled.csv", index=False)
    new.drop(columns="kind").to_csv(root / "new.csv", index=False)
    links.to_csv(root / "links.csv", index=False)
    links.iloc[2:].to_csv(root / "inside.csv", index=False)
    return root


@pytest.fixture
def predict(ncgc, made):
    def run(*words, nodes="new.csv", edges="links.csv", model="run"):
        return ncgc("predict", made / model, "--nodes", made / nodes, "--edges", made / edges, *words)

    return run


def test_every_new_node_gets_a_label_under_its_id(predict, made, tmp_path):
    result = predict("--out", tmp_path / "p.csv")
    assert result.code == 0, result.err
    frame = pd.read_csv(tmp_path / "p.csv")
    assert frame.columns.tolist() == ["id", "label", "confidence", "given", "cluster", "p_cat", "p_dog"]
    assert frame["id"].tolist() == [f"p{i}" for i in range(40, 60)]
    assert set(frame["label"]) == {"cat", "dog"}
    assert not frame["given"].any()
    np.testing.assert_allclose(frame["confidence"], frame[["p_cat", "p_dog"]].max(axis=1))
    assert "20 new nodes, joined to the model's graph of 40 nodes by 2 edges" in result.out
    assert "mean confidence" in result.out
    assert "accuracy" not in result.out


def test_the_probabilities_are_the_models_calibrated_ones(predict, made, tmp_path):
    assert predict("--out", tmp_path / "p.parquet", model="run/model").code == 0
    frame = pd.read_parquet(tmp_path / "p.parquet")
    model = NCGC.load(made / "run")
    attached = attach_nodes(model.graph_, made / "new.csv", made / "links.csv", TableSchema.from_dict(model.extra_))
    expected = model.predict_proba(attached.graph)[attached.new]
    np.testing.assert_array_equal(frame[["p_cat", "p_dog"]], expected)
    model.calibration_ = None
    assert not np.allclose(model.predict_proba(attached.graph)[attached.new], expected)
    assert frame["cluster"].tolist() == model.predict_clusters(attached.graph)[attached.new].tolist()


def test_labels_in_the_table_are_only_compared_with(predict, tmp_path):
    first = predict("--out", tmp_path / "a.csv", "--json")
    second = predict("--out", tmp_path / "b.csv", "--json", nodes="labelled.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert first.json["accuracy"] is None
    assert second.json["compared"] == 20
    truth = pd.Series(np.where(np.arange(40, 60) % 2 == 0, "cat", "dog"))
    assert second.json["accuracy"] == pytest.approx((pd.read_csv(tmp_path / "b.csv")["label"] == truth).mean())
    assert second.json["accuracy"] > 0.5
    assert "% on 20 labels in the table" in predict(nodes="labelled.csv").out


def test_json_has_the_predictions_where_no_file_does(predict, tmp_path):
    result = predict("--json")
    assert result.code == 0
    assert result.out.count("\n") == 1
    found = result.json
    assert [row["id"] for row in found["predictions"]] == [f"p{i}" for i in range(40, 60)]
    assert set(found["predictions"][0]) == {"id", "label", "confidence", "given", "cluster", "p_cat", "p_dog"}
    assert found["calibrated"] is True
    assert found["joined"] is True
    assert sum(row["nodes"] for row in found["classes"]) == found["nodes"] == 20
    written = predict("--json", "--out", tmp_path / "p.csv").json
    assert written["predictions"] is None
    assert written["out"] == str(tmp_path / "p.csv")


def test_without_out_nothing_is_written_and_it_says_so(predict, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = predict()
    assert result.code == 0
    assert "give --out predictions.csv" in result.out
    assert list(tmp_path.iterdir()) == []


def test_quiet_is_a_line(predict):
    result = predict("--quiet", nodes="labelled.csv")
    assert result.out.startswith("20 of 20 new nodes labelled, ")
    assert result.out.count("\n") == 1


def test_nodes_that_know_no_old_one_are_a_graph_of_their_own(predict, made):
    joined = predict("--json")
    assert joined.json["joined"] is True
    assert "joined to the model's graph of 40 nodes by 2 edges" in joined.err
    inside = predict("--json", edges="inside.csv")
    assert (inside.json["joined"], inside.json["bridges"]) == (False, 0)
    assert "a graph of their own: no edge leads to an old node of the model's graph" in inside.err
    alone = predict("--json", "--alone", edges="inside.csv")
    assert "a graph of their own: because of --alone" in alone.err
    assert alone.json["predictions"] == inside.json["predictions"]
    refused = predict("--alone")
    assert refused.code == 2
    assert "row 2: 'p38' is a node of the model's graph, which --alone leaves out (1 other likewise)" in refused.err


def test_edges_among_old_nodes_alone_join_nothing(predict, made):
    edges = pd.concat([pd.read_csv(made / "inside.csv"), pd.DataFrame({"who": ["p0"], "whom": ["p9"]})])
    edges.to_csv(made / "old.csv", index=False)
    result = predict(edges="old.csv")
    assert result.code == 0
    assert "a graph of their own: no edge leads to an old node" in " ".join(result.out.split())


def test_a_model_that_abstains_abstains_here_too(ncgc, made, tmp_path):
    model = NCGC.load(made / "run")
    for threshold, expected in ((2.0, 20), (None, 20), (0.0, 0)):
        extra = {**model.extra_, "abstain": 0.9, "threshold": threshold}
        save_model(model, tmp_path / "m", extra=extra, overwrite=True)
        words = ("--nodes", made / "new.csv", "--edges", made / "links.csv", "--json")
        found = ncgc("predict", tmp_path / "m", *words).json
        assert found["withheld"] == expected
        assert [row["label"] for row in found["predictions"]].count(None) == expected


def test_an_existing_file_is_replaced_only_when_asked(predict, tmp_path):
    out = tmp_path / "p.csv"
    out.write_text("mine")
    result = predict("--out", out)
    assert result.code == 2
    assert f"The file {out} exists; give another name, or --overwrite to replace it." in result.err
    assert out.read_text() == "mine"
    assert predict("--out", out, "--overwrite").code == 0
    assert out.read_text().startswith("id,label")


def test_a_place_one_may_not_write_to_is_refused_before_any_work(predict, tmp_path, monkeypatch):
    monkeypatch.setattr("ncgc.models.stored.load_model", lambda folder: pytest.fail("it began"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
        result = predict("--out", tmp_path / "p.csv")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "you may not write there" in result.err

    def closed(self):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_dir", closed)
    result = predict("--out", tmp_path / "p.csv")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "(Permission denied); give another place." in result.err


def test_features_from_a_file(ncgc, made, tmp_path):
    nodes, edges = tables(0, 40)
    np.save(tmp_path / "old.npy", nodes[["height"]].to_numpy())
    found = read_graph(
        nodes, edges, id="person", label="kind", source="who", target="whom", features=tmp_path / "old.npy"
    )
    model = NCGC(hidden=8, epochs=10, warmup=2, ramp=2).fit(found.graph)
    save_model(model, tmp_path / "m", extra=TableSchema.of(found).to_dict())
    np.save(tmp_path / "new.npy", tables(40, 60, seed=1)[0][["height"]].to_numpy())
    words = ("predict", tmp_path / "m", "--nodes", made / "new.csv", "--edges", made / "links.csv")
    assert ncgc(*words, "--features", tmp_path / "new.npy", "--json").json["nodes"] == 20
    assert "with --features" in ncgc(*words).err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "p.txt"], "Predictions are written as .csv or .parquet"),
        (["--out", "no/where/p.csv"], "must be a file in a folder that exists"),
        (["--id", "nobody"], "has no column 'nobody'"),
        (["--source", "nobody"], "has no column 'nobody'"),
        (["--weight", "nobody"], "has no column 'nobody'"),
        (["--features", "x.npy"], "give no --features"),
        (["--delimiter", "xyz"], "delimiter"),
        (["--nodes", "none.csv"], "There is no file"),
        (["--edges", "none.csv"], "There is no file"),
        (["--colour", "red"], "Unknown option"),
    ],
)
def test_bad_input_is_one_sentence(predict, words, said):
    result = predict(*words)
    assert result.code == 2
    assert said in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""


def test_nodes_and_edges_are_needed(ncgc, made):
    result = ncgc("predict", made / "run")
    assert (result.code, result.err) == (2, "Error: The nodes are missing; give --nodes and --edges.\n")
    assert "The edges are missing" in ncgc("predict", made / "run", "--nodes", made / "new.csv").err
    assert ncgc("predict").code == 2


def test_a_bad_model_is_one_sentence(predict, made, tmp_path):
    shutil.copytree(made / "run", tmp_path / "run")
    weights = tmp_path / "run" / "model" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-7])
    for model, said in (
        (tmp_path / "run", "checksum"),
        (tmp_path / "no", "is not there"),
        (made / "new.csv", "is a file"),
    ):
        result = predict(model=model)
        assert result.code == 2
        assert said in result.err
        assert result.err.count("\n") == 1


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_help_fits_the_terminal(ncgc, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    result = ncgc("predict", "--help")
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= int(columns)
    for option in ("--nodes", "--edges", "--out", "--alone", "--json", "--quiet", "--overwrite", "--features"):
        assert option in result.out
