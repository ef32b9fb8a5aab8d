"""What runs leave behind; the command line's tests see whole folders."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from ncgc import NCGC, Graph, Split
from ncgc.runs.execute import execute
from ncgc.runs.folder import predictions_csv, write_fit_folder
from ncgc.runs.load import LabelledGraph
from ncgc.runs.result import RunResult
from ncgc.runs.spec import RunSpec


def test_predictions_name_nodes_and_classes_as_people_do():
    edges = [[i, i + 1] for i in range(9) if i != 4]
    names = [f"n{i}" for i in range(10)]
    graph = Graph.from_edges(edges, np.eye(10), [0] * 5 + [1] * 5, classes=["ham", "spam"], node_ids=names)
    split = Split([0, 9], [], [1, 2, 8])
    model = NCGC(epochs=5, warmup=1, ramp=1, hidden=4).fit(graph, split)
    result = RunResult(RunSpec.on_dataset("digits"), LabelledGraph(graph, split, split.val), model, 1.0)
    rows = list(csv.DictReader(predictions_csv(result).splitlines()))
    assert [row["node"] for row in rows] == [f"n{i}" for i in range(10)]
    assert [row["label"] for row in rows] == model.transduction_.tolist()
    assert [row["source"] for row in rows] == ["given"] + ["predicted"] * 8 + ["given"]
    assert rows[0]["label"] == "ham"
    best = model.predict_proba().max(axis=1)
    np.testing.assert_allclose([float(row["confidence"]) for row in rows[1:9]], best[1:9], atol=1e-6)


@pytest.fixture
def fitted(tmp_path, make_tables):
    """Fits tables of 18 labelled nodes with a method and writes the folder `run`."""
    nodes, edges = make_tables(18)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)

    def fit(method, parameters, overwrite=False):
        paths = {name: str(tmp_path / f"{name}.csv") for name in ("nodes", "edges")}
        settings = {**paths, "folds": 0, "method": method, "parameters": parameters}
        write_fit_folder(tmp_path / "run", execute(RunSpec.from_settings(settings)), overwrite, report=False)
        return tmp_path / "run"

    return fit


def test_only_a_method_that_can_label_other_nodes_leaves_a_model(fitted):
    """And a model of an earlier run does not outlive it."""
    assert (fitted("gcn", {"epochs": 2}) / "model").is_dir()
    folder = fitted("label_spreading", {}, overwrite=True)
    assert sorted(file.name for file in folder.iterdir()) == [
        "config.toml",
        "metrics.json",
        "predictions.csv",
        "suggestions.csv",
    ]
