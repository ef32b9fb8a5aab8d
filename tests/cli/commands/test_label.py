"""`ncgc label`: what to label next, from a run or a model."""

from __future__ import annotations

import io
import shutil

import pandas as pd
import pytest

from ncgc import NCGC
from ncgc.runs.execute import execute
from ncgc.runs.folder import write_fit_folder
from ncgc.runs.source import TableSource
from ncgc.runs.spec import RunSpec

BRIEF = {"hidden": 8, "epochs": 12, "warmup": 3, "ramp": 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory, make_tables):
    """A run, beside its tables; to be looked at only."""
    folder = tmp_path_factory.mktemp("label")
    for name, frame in zip(("nodes", "edges"), make_tables(), strict=True):
        frame.to_csv(folder / f"{name}.csv", index=False)
    spec = RunSpec(TableSource(str(folder / "nodes.csv"), str(folder / "edges.csv")), parameters=BRIEF)
    write_fit_folder(folder / "run", execute(spec), report=False)
    return folder / "run"


def test_a_table_of_the_best(ncgc, run):
    result = ncgc("label", run, "--top", 3)
    assert result.code == 0
    expected = pd.read_csv(run / "suggestions.csv")["id"][:3].tolist()
    assert [
        line.split()[0] for line in result.out.splitlines() if line.strip().startswith("n") and "node" not in line
    ] == (expected)


def test_csv_is_the_top_of_the_runs_own_suggestions(ncgc, run):
    result = ncgc("label", run, "--csv", "--top", 5)
    assert result.out.splitlines() == (run / "suggestions.csv").read_text().splitlines()[:6]


def test_the_model_folder_does_as_well_as_the_run(ncgc, run):
    assert ncgc("label", run / "model", "--csv").out == ncgc("label", run, "--csv").out
    assert len(pd.read_csv(io.StringIO(ncgc("label", run, "--csv").out))) == 20


def test_more_than_there_are(ncgc, run):
    table = pd.read_csv(io.StringIO(ncgc("label", run, "--csv", "--top", 1000).out))
    assert len(table) == 30
    assert table["score"].is_monotonic_decreasing


def test_nothing_to_suggest(ncgc, fit, tables, tmp_path):
    fit(given=tables(labelled=48))
    result = ncgc("label", tmp_path / "run")
    assert result.code == 0
    assert result.out == "Every node has a label; there is nothing to suggest.\n"
    assert ncgc("label", tmp_path / "run", "--csv").out == "id,score,uncertainty,reach,guess,confidence\n"


def test_brackets_in_names_are_no_markup(ncgc, fit, tables, tmp_path):
    fit(given=tables(ids=[f"[bold]{i}[/bold]" for i in range(48)], classes=["[red]a", "[red]b", "[red]c"]))
    out = ncgc("label", tmp_path / "run", "--top", 2).out
    assert out.count("[bold]") == 2
    assert out.count("[red]") == 2


def test_a_model_saved_in_python(ncgc, make_planted, tmp_path):
    graph = make_planted()[0].with_labels([*range(3)] * 10 + [-1] * 15)
    NCGC(**BRIEF).fit(graph).save(tmp_path / "mine")
    table = pd.read_csv(io.StringIO(ncgc("label", tmp_path / "mine", "--csv").out))
    assert sorted(table["id"]) == list(range(30, 45))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("missing",), "missing is not there"),
        ((".",), "is a folder without model.json"),
        (("nodes.csv",), "nodes.csv is a file"),
        (("run", "--top", 0), "1 or more"),
        (("run", "--top", "many"), "'--top'"),
        (("run", "--tpo", 3), "did you mean '--top'?"),
        ((), "RUN"),
    ],
)
def test_bad_input_is_one_sentence(ncgc, run, monkeypatch, words, part):
    monkeypatch.chdir(run.parent)
    result = ncgc("label", *words)
    assert result.code == 2
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert part in result.err
    assert result.out == ""


def test_a_damaged_model_is_one_sentence(ncgc, run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    path = tmp_path / "run" / "model" / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-3])
    result = ncgc("label", tmp_path / "run")
    assert result.code == 2
    assert "weights.safetensors" in result.err
    assert result.err.count("\n") == 1
