"""`ncgc fit`: the files it writes, the tables it takes, and that a run can be repeated."""

from __future__ import annotations

import gzip
import json
import shutil

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ncgc import NCGC, __version__
from ncgc.training.engines.full_batch import FullBatch

FILES = ["config.toml", "metrics.json", "model", "predictions.csv", "report.html", "suggestions.csv"]
LEAN = [name for name in FILES if name != "report.html"]


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def predictions(folder):
    return pd.read_csv(
        folder / "predictions.csv", dtype={"id": str}, keep_default_na=False, na_values={"confidence": ""}
    )


# ---------------------------------------------------------------- what it writes


def test_all_files_appear_and_say_the_same(fit, tmp_path, make_tables):
    result = fit("--json", lean=False)
    assert result.code == 0
    assert result.out.count("\n") == 1
    assert names(tmp_path / "run") == FILES
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics == result.json
    assert metrics["version"] == __version__
    assert (metrics["nodes"], metrics["given"], metrics["predicted"], metrics["withheld"]) == (48, 18, 30, 0)
    assert metrics["classes"] == ["eggs", "ham", "spam"]
    assert metrics["calibrated"] == "on 18 training labels, cross-fitted"
    assert "note" in result.err
    assert "30 of 48 nodes labelled from 18 labels" in result.err

    nodes, edges = make_tables()
    table = predictions(tmp_path / "run")
    assert list(table.columns[:5]) == ["id", "label", "confidence", "given", "cluster"]
    assert table["id"].tolist() == nodes["id"].tolist()
    assert table["label"].tolist()[:18] == nodes["label"].tolist()[:18]
    assert table["given"].tolist() == [True] * 18 + [False] * 30
    shares = table[["p_eggs", "p_ham", "p_spam"]].to_numpy()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=2e-6)
    best = np.array(["eggs", "ham", "spam"])[shares.argmax(axis=1)]
    np.testing.assert_array_equal(table["label"][18:], best[18:])
    np.testing.assert_allclose(table["confidence"][18:], shares.max(axis=1)[18:])
    assert metrics["mean_confidence"] == pytest.approx(shares.max(axis=1)[18:].mean(), abs=1e-5)
    assert metrics["shares"] == pytest.approx([(table["label"] == name).mean() for name in metrics["classes"]])
    assert metrics["edges"] == len(edges)

    model = NCGC.load(tmp_path / "run" / "model")
    np.testing.assert_allclose(model.predict_proba(), shares, atol=1e-6)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"--config {tmp_path / 'run' / 'config.toml'}" in page
    suggestions = pd.read_csv(tmp_path / "run" / "suggestions.csv")
    assert set(suggestions["id"]) == set(nodes["id"][18:])
    assert (suggestions["guess"].to_numpy() == table.set_index("id")["label"][suggestions["id"]]).all()


def test_withheld_labels_are_empty_cells(fit, tmp_path):
    """Nine labels are too few to promise an accuracy: nothing but what was given is labelled."""
    words = ["--nodes", tmp_path / "few.csv", "--edges", tmp_path / "edges.csv"]
    fit(out="first")
    frame = pd.read_csv(tmp_path / "nodes.csv")
    frame.loc[9:, "label"] = None
    frame.to_csv(tmp_path / "few.csv", index=False)
    result = fit("--abstain", 0.9, "--json", given=words, lean=False)
    assert result.code == 0
    table = predictions(tmp_path / "run")
    assert (table["label"][:9] != "").all()
    assert (table["label"][9:] == "").all()
    assert table["confidence"][9:].isna().all()
    assert table["p_ham"].notna().all()
    assert result.json["withheld"] == 39
    assert result.json["threshold"] is None
    assert "no confidence gives that accuracy" in result.err
    assert "39 nodes left unlabelled, for an accuracy of 90.0 %" in result.err


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(fit, tmp_path):
    fit(lean=False, out="one")
    fit(lean=False, out="two")
    fit("--seed", 1, lean=False, out="three")
    for name in ("predictions.csv", "suggestions.csv", "config.toml", "model/weights.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
        assert (tmp_path / "one" / name).read_bytes() != (tmp_path / "three" / name).read_bytes()


def test_config_repeats_the_run_from_anywhere(fit, ncgc, tmp_path, monkeypatch, tables):
    tables()
    monkeypatch.chdir(tmp_path)
    given = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--features", "age,town:text", "--no-kl", "--norm", "none"]
    first = fit("--scaling", "unit", "--seed", 5, given=given, lean=False, out="one")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = ncgc("fit", "--config", tmp_path / "one" / "config.toml", "--out", tmp_path / "two")
    assert (first.code, again.code) == (0, 0)
    for name in ("predictions.csv", "suggestions.csv", "config.toml"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_options_override_the_config(fit, ncgc, tmp_path):
    fit("--seed", 3)
    words = ("--folds", 0, "--no-report", "--hidden", 6, "--json", "--out", tmp_path / "two")
    result = ncgc("fit", "--config", tmp_path / "run" / "config.toml", *words)
    assert result.json["seed"] == 3
    assert result.json["epochs"] == 12
    assert NCGC.load(tmp_path / "two").hidden == 6


def test_quiet_is_one_line(fit):
    result = fit("--quiet")
    assert result.out == "30 of 48 nodes labelled from 18 labels\n"
    assert result.err == ""


def test_scaling_and_feature_columns_are_two_options(fit, tmp_path):
    assert fit("--scaling", "row", "--features", "town").code == 0
    model = NCGC.load(tmp_path / "run")
    assert (model.features, model.n_features_in_) == ("row", 3)


# ---------------------------------------------------------------- the folder


def test_a_folder_in_use_is_refused_before_any_work(fit, tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("keep")
    monkeypatch.setattr("ncgc.runs.execute.load", None)
    result = fit()
    assert result.code == 2
    assert "is not empty" in result.err
    assert names(tmp_path / "run") == ["mine.txt"]


def test_overwrite_replaces_the_run_and_nothing_else(fit, tmp_path):
    run = tmp_path / "run"
    fit("--format", "parquet", "--hidden", 6, lean=False)
    (run / "mine.txt").write_text("keep")
    old = (run / "model" / "weights.safetensors").read_bytes()
    assert names(run) == ["config.toml", "metrics.json", "mine.txt", "model", "predictions.parquet", *FILES[4:]]
    assert fit("--overwrite").code == 0
    assert names(run) == sorted([*LEAN, "mine.txt"])
    assert (run / "model" / "weights.safetensors").read_bytes() != old
    assert NCGC.load(run).hidden == 8
    assert names(run / "model") == ["graph.safetensors", "model.json", "nodes.parquet", "weights.safetensors"]


# ---------------------------------------------------------------- what it takes


@pytest.fixture
def same(fit, tmp_path):
    """Asserts that other words give the predictions that plain tables give."""

    def check(*given, **options):
        if not (tmp_path / "plain").exists():
            assert fit(out="plain").code == 0
        result = fit(given=list(given), **options)
        assert result.code == 0, result.err
        assert (tmp_path / "run" / "predictions.csv").read_bytes() == (
            tmp_path / "plain" / "predictions.csv"
        ).read_bytes()
        shutil.rmtree(tmp_path / "run")

    return check


def test_other_files_of_the_same_tables(same, tables, tmp_path):
    tables()
    for name in ("nodes", "edges"):
        text = (tmp_path / f"{name}.csv").read_text()
        (tmp_path / f"{name}.tsv").write_text(text.replace(",", "\t"))
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
        (tmp_path / f"{name}.txt").write_text(text.replace(",", "%"))
        pd.read_csv(tmp_path / f"{name}.csv").to_parquet(tmp_path / f"{name}.parquet")
    same("--nodes", tmp_path / "nodes.tsv", "--edges", tmp_path / "edges.csv.gz")
    same("--nodes", tmp_path / "nodes.csv.gz", "--edges", tmp_path / "edges.parquet")
    same("--nodes", tmp_path / "nodes.parquet", "--edges", tmp_path / "edges.tsv")
    same("--nodes", tmp_path / "nodes.txt", "--edges", tmp_path / "edges.txt", "--delimiter", "%")


def test_columns_by_name(same, tables, tmp_path):
    tables()
    renamed = {"id": "who", "label": "what", "source": "a", "target": "b"}
    for name in ("nodes", "edges"):
        pd.read_csv(tmp_path / f"{name}.csv").rename(columns=renamed).to_csv(
            tmp_path / f"other_{name}.csv", index=False
        )
    columns = ("--id", "who", "--label", "what", "--source", "a", "--target", "b")
    same("--nodes", tmp_path / "other_nodes.csv", "--edges", tmp_path / "other_edges.csv", *columns)


def test_graphml(fit, tmp_path, make_tables):
    nodes, edges = make_tables()
    graph = nx.Graph()
    for row in nodes.to_dict("records"):
        graph.add_node(row.pop("id"), **{name: value for name, value in row.items() if value is not None})
    graph.add_edges_from(edges.itertuples(index=False))
    nx.write_graphml(graph, tmp_path / "g.graphml")
    result = fit("--nodes", tmp_path / "g.graphml", given=[])
    assert result.code == 0, result.err
    table = predictions(tmp_path / "run")
    assert table["id"].tolist() == nodes["id"].tolist()
    assert table["label"].tolist()[:18] == nodes["label"].tolist()[:18]


@pytest.mark.parametrize(
    ("features", "width"),
    [("age", 1), ("age:category", 47), ("age:number,town:text", 4), ("x.npy", 4), ("x.npz", 5), ("none", None)],
)
def test_features(fit, tables, tmp_path, monkeypatch, features, width):
    given = tables()
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    np.save("x.npy", generator.normal(size=(48, 4)))
    sparse.save_npz("x.npz", sparse.csr_array(generator.random((48, 5)) < 0.1).astype(float))
    result = fit("--features", features, "--json", given=given)
    assert result.code == 0, result.err
    assert width in (None, result.json["features"])
    if features == "none":
        assert "made from the graph's structure" in result.err


def test_a_split_is_compared_with(fit, tables, tmp_path):
    given = tables(labelled=48)
    frame = pd.read_csv(tmp_path / "nodes.csv")
    frame["part"] = np.array(["train", "val", "test", "test"])[np.arange(48) // 12]
    frame.to_csv(tmp_path / "nodes.csv", index=False)
    result = fit("--split", "part", "--json", given=given, lean=False)
    assert result.code == 0, result.err
    assert "12 for training, 12 for validation, 24 for testing" in result.err
    table, metrics = predictions(tmp_path / "run"), result.json
    assert table["given"].sum() == metrics["given"] == 12
    right = table["label"] == frame["label"]
    assert metrics["val_accuracy"] == right[12:24].mean()
    assert metrics["test_accuracy"] == right[24:].mean()
    assert metrics["calibrated"] == "on 12 validation labels"
    assert (tmp_path / "run" / "suggestions.csv").read_text().count("\n") == 1  # the header: every label is known


def test_parquet_out_keeps_everything(fit, tmp_path):
    fit("--format", "parquet")
    fit(out="text")
    assert names(tmp_path / "run") == ["config.toml", "metrics.json", "model", "predictions.parquet", "suggestions.csv"]
    table, text = pd.read_parquet(tmp_path / "run" / "predictions.parquet"), predictions(tmp_path / "text")
    assert table.columns.tolist() == text.columns.tolist()
    assert table["label"].tolist() == text["label"].tolist()
    np.testing.assert_allclose(table["p_ham"], text["p_ham"], atol=1e-6)
    np.testing.assert_allclose(table[["p_eggs", "p_ham", "p_spam"]].sum(axis=1), 1, atol=1e-12)


def test_weights_count(fit, tables, tmp_path):
    given = tables()
    edges = pd.read_csv(tmp_path / "edges.csv")
    ones, others = edges.assign(weight=1.0), edges.assign(strength=np.arange(len(edges)) % 5 + 0.5)
    ones.to_csv(tmp_path / "ones.csv", index=False)
    others.to_csv(tmp_path / "others.csv", index=False)
    fit(given=given, out="none")
    fit(given=[*given[:2], "--edges", tmp_path / "ones.csv"], out="ones")
    fit("--weight", "strength", given=[*given[:2], "--edges", tmp_path / "others.csv"], out="others")
    none, one, other = ((tmp_path / name / "predictions.csv").read_bytes() for name in ("none", "ones", "others"))
    assert none == one
    assert none != other


STRANGE = ["007", "7", "<script>alert(1)</script>", 'say "hi"', "a,b", "Ωmega", "=1+1", "new\nline", "NA", "日本"]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_strange_ids_and_labels_survive(fit, tables, tmp_path, format):
    """Only what a spreadsheet would run gets an apostrophe, in CSV."""
    ids = [*STRANGE, *(f"n{i}" for i in range(38))]
    classes = ["<b>bold</b>", '"x", y', "=cmd|'/c calc'!A0"]
    result = fit("--format", format, given=tables(ids=ids, classes=classes), lean=False)
    assert result.code == 0, result.err
    run = tmp_path / "run"
    table = pd.read_parquet(run / "predictions.parquet") if format == "parquet" else predictions(run)
    safe = (lambda text: "'" + text if text.startswith("=") else text) if format == "csv" else str
    assert table["id"].tolist() == [safe(name) for name in ids]
    assert table["label"].tolist()[:18] == [safe(classes[i % 3]) for i in range(18)]
    assert {f"p_{name}" for name in classes} <= set(table.columns)
    assert json.loads((run / "metrics.json").read_text())["classes"] == sorted(classes)
    assert "<script>alert(1)" not in (run / "report.html").read_text(encoding="utf-8")
    assert NCGC.load(run).graph_.node_ids.tolist() == ids


# ---------------------------------------------------------------- odd but right


def test_a_label_seen_once_and_a_note(fit, tables, tmp_path):
    given = tables(labelled=13)  # five, four and four
    frame = pd.read_csv(tmp_path / "nodes.csv")
    frame.loc[13, "label"] = "rare"
    frame.to_csv(tmp_path / "nodes.csv", index=False)
    result = fit(given=given, lean=False)
    assert result.code == 0, result.err
    assert "A single node is labelled as 'rare'; a few more would help." in result.out
    assert predictions(tmp_path / "run")["label"][13] == "rare"
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["calibrated"] == "on 13 training labels, cross-fitted"


def test_all_nodes_labelled_and_a_note(fit, tables, tmp_path):
    result = fit(given=tables(labelled=48), lean=False)
    assert result.code == 0, result.err
    assert "Every node has a label already: there is nothing left to predict." in result.out
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["mean_confidence"] is None
    assert metrics["predicted"] == 0


def test_a_loss_that_is_not_finite_while_calibrating_is_one_warning(fit, monkeypatch):
    """Of two folds, both break down; the fit itself does not."""
    step, trained = FullBatch.step, []

    def breaks(self, epoch):
        trained.append(epoch == 1)
        return None if sum(trained) > 1 and epoch == 4 else step(self, epoch)

    monkeypatch.setattr(FullBatch, "step", breaks)
    result = fit("--no-report", "--quiet", lean=False)
    assert result.code == 0
    assert result.err.startswith("Warning: While calibrating: the loss was not finite in epoch 4;")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("verb", ["fit", "label"])
def test_help_in_fifty_columns_cuts_nothing(ncgc, monkeypatch, verb):
    from ncgc.cli.commands.fit import FIXED, PARAMETERS

    monkeypatch.setenv("COLUMNS", "50")
    result = ncgc(verb, "--help")
    assert result.code == 0
    assert max(len(line) for line in result.out.splitlines()) <= 50
    assert "…" not in result.out
    words = result.out.replace(",", " ").split()
    options = [*(parameter.name for parameter in FIXED), *PARAMETERS] if verb == "fit" else ["top", "csv"]
    for name in options:
        assert {"as_json": "--json", "sets": "--set"}.get(name, "--" + name.replace("_", "-")) in words
    assert words[-1].endswith(".")
