"""`ncgc demo`, made short."""

from __future__ import annotations

import json

import pytest

from ncgc.cli.commands import demo
from ncgc.datasets import few_split, load_dataset
from ncgc.models.baselines.label_spreading import LabelSpreading


@pytest.fixture(autouse=True)
def short(monkeypatch):
    brief = {"epochs": 4, "warmup": 1, "ramp": 1, "hidden": 8}
    monkeypatch.setattr(demo, "DEMO_SETTINGS", brief)
    monkeypatch.setattr(demo, "PLAIN", demo.PLAIN | brief)


def test_table_files_and_what_next(ncgc, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = ncgc("demo")
    assert result.code == 0
    for part in ("1,797 nodes", "label spreading", "GCN", "NCGC", "runs/demo", "Next:", "ncgc train"):
        assert part in result.out
    out = tmp_path / "runs" / "demo"
    metrics = json.loads((out / "metrics.json").read_text())
    graph = load_dataset("digits")
    spread = LabelSpreading().fit(graph, few_split(graph, 1, seed=2, val_per_class=10)).score()
    assert metrics["label spreading"]["runs"][2]["test_accuracy"] == spread
    assert len((out / "results.csv").read_text().splitlines()) == 13


def test_the_written_config_trains_the_same_ncgc(ncgc, tmp_path):
    out = tmp_path / "demo"
    ncgc("demo", "--out", out)
    again = ncgc("train", "--config", out / "config.toml", "--json").json
    assert again["test_accuracy"] == pytest.approx(
        json.loads((out / "metrics.json").read_text())["NCGC"]["test_accuracy"]
    )


def test_again_into_the_same_folder(ncgc, tmp_path):
    out = tmp_path / "demo"
    assert ncgc("demo", "--out", out).code == 0
    before = sorted(file.name for file in out.iterdir())
    (out / "history-99.csv").write_text("of an older demo")
    (out / "mine.txt").write_text("not yours")
    assert ncgc("demo", "--out", out).code == 0
    assert sorted(file.name for file in out.iterdir()) == sorted([*before, "mine.txt"])


def test_ctrl_c_is_one_line_and_leaves_nothing(ncgc, tmp_path, monkeypatch):
    monkeypatch.setattr("ncgc.cli.progress.Interruption.requested", True, raising=False)
    monkeypatch.setattr("ncgc.cli.progress.Interruption.__init__", lambda self: setattr(self, "_previous", None))
    result = ncgc("demo", "--out", tmp_path / "demo")
    assert result.code == 130
    assert result.err == "Interrupted.\n"
    assert not (tmp_path / "demo").exists()
