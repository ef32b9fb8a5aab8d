"""What is written of a run."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from ncgc import NCGC, Graph, Split
from ncgc.runs.config import RunConfig
from ncgc.runs.result import RunResult, finite, json_line, predictions_csv, summary


@pytest.fixture(scope="module")
def model():
    edges = [[i, i + 1] for i in range(9) if i != 4]
    graph = Graph.from_edges(
        edges,
        np.eye(10),
        [0] * 5 + [1] * 5,
        classes=["ham", "spam"],
        node_ids=[f"n{i}" for i in range(10)],
    )
    return NCGC(epochs=5, warmup=1, ramp=1, hidden=4).fit(graph, Split([0, 9], [], [1, 2, 8]))


def test_predictions_name_nodes_and_classes_as_people_do(model):
    rows = list(csv.DictReader(predictions_csv(model).splitlines()))
    assert [row["node"] for row in rows] == [f"n{i}" for i in range(10)]
    assert [row["label"] for row in rows] == model.transduction_.tolist()
    assert [row["source"] for row in rows] == ["given"] + ["predicted"] * 8 + ["given"]
    assert rows[0]["label"] == "ham"
    best = model.predict_proba().max(axis=1)
    np.testing.assert_allclose([float(row["confidence"]) for row in rows[1:9]], best[1:9], atol=1e-6)


def test_without_validation_nodes_its_accuracy_is_null(model):
    result = RunResult.of(model, 0)
    assert result.val_accuracy is None
    assert result.labels_per_class == 1
    config = RunConfig.from_layers({"dataset": "digits"})
    assert json.loads(json_line(summary(config, [result])))["val_accuracy"] is None


def test_no_nan_in_json():
    assert finite(float("nan")) is None
    assert finite(float("inf")) is None
    with pytest.raises(ValueError, match="JSON"):
        json_line(float("nan"))


def test_several_runs_are_averaged(model):
    from dataclasses import replace

    first = RunResult.of(model, 0)
    results = [replace(first, test_accuracy=0.5), replace(first, seed=1, test_accuracy=0.7, termination="interrupted")]
    together = summary(RunConfig.from_layers({"dataset": "digits", "runs": 2}), results)
    assert together["test_accuracy"] == pytest.approx(0.6)
    assert together["test_accuracy_std"] == pytest.approx(np.std([0.5, 0.7], ddof=1))
    assert together["seconds"] == pytest.approx(2 * first.seconds)
    assert together["termination"] == "interrupted"
    assert [run["seed"] for run in together["runs"]] == [0, 1]
