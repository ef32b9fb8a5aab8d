"""What is measured of a run, and under which names."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from ncgc import NCGC, Graph, Split
from ncgc.runs.load import LabelledGraph
from ncgc.runs.result import RunResult, finite, json_line, normalise_record, summary
from ncgc.runs.spec import RunSpec

NAMES = ("test_accuracy", "val_accuracy", "test_macro_f1", "test_calibration_error", "seconds", "peak_mib", "best_epoch",
         "epochs", "termination")  # fmt: skip


@pytest.fixture(scope="module")
def result():
    edges = [[i, i + 1] for i in range(9) if i != 4]
    names = [f"n{i}" for i in range(10)]
    graph = Graph.from_edges(edges, np.eye(10), [0] * 5 + [1] * 5, classes=["ham", "spam"], node_ids=names)
    split = Split([0, 9], [], [1, 2, 8])
    model = NCGC(epochs=5, warmup=1, ramp=1, hidden=4).fit(graph, split)
    return RunResult(RunSpec.on_dataset("digits"), LabelledGraph(graph, split, split.val), model, 2.5, 100.0)


def test_one_set_of_names_everywhere(result):
    assert tuple(result.metrics) == NAMES
    assert set(NAMES) <= set(result.record())
    assert set(NAMES) <= set(result.to_dict())
    assert set(NAMES) <= set(summary(result.spec, [result]))
    assert set(NAMES) <= set(summary(replace(result.spec, runs=2), [result, result]))


def test_without_validation_nodes_its_accuracy_is_null(result):
    assert result.metrics["val_accuracy"] is None
    assert result.labels_per_class == 1
    assert json.loads(json_line(summary(result.spec, [result])))["val_accuracy"] is None


def test_no_nan_in_json():
    assert finite(float("nan")) is None
    assert finite(float("inf")) is None
    with pytest.raises(ValueError, match="JSON"):
        json_line(float("nan"))


def test_several_runs_are_averaged(result):
    def with_accuracy(value, seed, termination):
        other = RunResult(result.spec.with_seed(seed), result.data, result.model, 2.5, 100.0)
        other.__dict__["metrics"] = {**result.metrics, "test_accuracy": value, "termination": termination}
        return other

    results = [with_accuracy(0.5, 0, "all epochs done"), with_accuracy(0.7, 1, "no gain")]
    together = summary(replace(result.spec, runs=2), results)
    assert together["test_accuracy"] == pytest.approx(0.6)
    assert together["test_accuracy_std"] == pytest.approx(np.std([0.5, 0.7], ddof=1))
    assert together["seconds"] == pytest.approx(5)
    assert together["peak_mib"] == 100
    assert together["termination"] is None
    assert [run["seed"] for run in together["runs"]] == [0, 1]


def test_a_stored_line_is_read_under_the_present_names():
    old = {"seed": 1, "macro_f1": 0.5, "ece": 0.1, "settings": {"ece": 3}}
    found = normalise_record(old)
    assert found == {"seed": 1, "test_macro_f1": 0.5, "test_calibration_error": 0.1, "settings": {"ece": 3}}
    assert normalise_record(found) == found
