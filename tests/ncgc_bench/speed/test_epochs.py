"""The speed comparison: the ways compute the same, their times make the table, and bad input gets a sentence."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ncgc.errors import ParameterError, TrainingError
from ncgc_bench.speed import epochs as speed
from ncgc_bench.speed.floor import floor
from ncgc_bench.speed.tables import as_table, means, read_rows

ROOT = Path(__file__).resolve().parents[3]
SMALL = {
    "hidden": 8,
    "num_layers": 2,
    "dropout": 0.5,
    "beta": 0.01,
    "warmup": 0,
    "ramp": 0,
    "relaxation": 1.0,
    "features": "raw",
    "input_dropout": 0.0,
    "norm": None,
}


@pytest.fixture
def planted(make_planted, monkeypatch):
    graph, split = make_planted()
    monkeypatch.setattr(speed, "preset", lambda name, backbone, dataset: {"backbone": backbone, **SMALL})
    monkeypatch.setattr(speed, "make_split", lambda graph, kind: split)
    monkeypatch.setattr(speed, "load_dataset", lambda name, root=None: graph)
    return graph


@pytest.mark.parametrize(("backbone", "heads"), [("gcn", 1), ("gat", 1), ("gat", 2)])
def test_all_ways_have_the_same_losses(planted, backbone, heads):
    assert speed.compare_losses(planted, backbone, heads) <= 1e-4


def test_a_way_that_computes_something_else_ends_the_comparison(planted, monkeypatch):
    monkeypatch.setattr("ncgc_bench.speed.pyg_reference_ncgc.soft_orthogonal", lambda z, beta: 0.5 * z)
    with pytest.raises(TrainingError, match="differ"):
        speed.compare_losses(planted, "gcn", 1)


def test_the_floor_runs_on_every_kind_of_features(make_planted, planted):
    for form in ("dense", "sparse"):
        graph, _ = make_planted(form)
        floor(graph, speed.make_epochs(graph, "gcn", 1, ("ours",))[1])()


def test_measure_has_times_and_their_ratios(planted):
    row = speed.measure("planted", speed.Options(rounds=1))
    assert row["over_csr"] == pytest.approx(row["csr_ms"] / row["ours_ms"])
    assert row["over_floor"] == pytest.approx(row["ours_ms"] / row["floor_ms"])
    assert set(row) >= {"over_edge_index", "loss_difference"}


def test_the_table_ends_with_geometric_means():
    rows = [{"dataset": name, "ours_ms": 1.0, "over_csr": ratio} for name, ratio in (("a", 2.0), ("b", 8.0))]
    lines = as_table(rows).splitlines()
    assert lines[-1] == "| geometric mean |  | **4.00** |"
    assert {line.count("|") for line in lines} == {4}
    assert means(rows) == {"over_csr": pytest.approx(math.sqrt(16))}


def test_earlier_results_are_shown_by_the_old_command():
    path = ROOT / "benchmarks/results/speed-gcn.jsonl"
    command = [sys.executable, ROOT / "benchmarks/speed.py", "--show", path]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert out.rstrip("\n") == as_table(read_rows(path))
    assert re.search(r"^\| cora \|", out, flags=re.MULTILINE)


@pytest.mark.parametrize("text", [None, "hello", json.dumps({"dataset": "cora"}), "[1]", ""])
def test_a_file_without_timings_is_a_sentence(tmp_path, text):
    path = tmp_path / "x.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ParameterError, match=r"x\.jsonl"):
        read_rows(path)


@pytest.mark.parametrize("wrong", [{"backbone": "sage"}, {"rounds": 0}, {"heads": 0}])
def test_options_are_checked(wrong):
    with pytest.raises(ParameterError):
        speed.Options(**wrong)
