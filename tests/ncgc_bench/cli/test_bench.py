"""`ncgc bench`: runs are made once, shown in every form, stopped and taken up again; wrong input is one sentence."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ncgc.errors import NCGCError
from ncgc.runs.execute import execute
from ncgc_bench import pool
from ncgc_bench.pool import Outcome
from ncgc_bench.store import Store

STUDY = """
[study]
datasets = ["digits"]
labels_per_class = [1]
seeds = [1000, 1001]

[base]
hidden = 8
epochs = {epochs}
warmup = 1
ramp = 1

[variants.all]

[variants.a_b]
kl = false
"""
TABLE = ("table", "--datasets", "digits", "--methods", "label_spreading", "--split", "few", "--runs", "2")


@pytest.fixture
def here(monkeypatch):
    """The pool without its processes: the runs are made in this one, some fail if asked to."""
    failing: dict[int, str] = {}

    def make(runs, store, name, jobs=1, threads=1, root=None, started=lambda run: None):
        for run in store.missing(runs):
            started(run)
            try:
                if run.seed in failing:
                    raise NCGCError(failing[run.seed])
                record = execute(run, root).record()
            except NCGCError as error:
                yield Outcome(run, None, str(error))
                continue
            store.add(name, record)
            yield Outcome(run, record)

    monkeypatch.setattr(pool, "make", make)
    return failing


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(STUDY.format(epochs=3))
    return path


@pytest.fixture
def bench(ncgc, tmp_path):
    return lambda *words: ncgc("bench", *words, "--results", tmp_path / "results")


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]


def test_help_names_every_verb(ncgc):
    result = ncgc("bench")
    assert result.code == 0
    for verb in ("table", "ablation", "sweep", "labels", "leaderboard", "study", "speed", "show", "figures"):
        assert re.search(rf"^  {verb} ", result.out, flags=re.MULTILINE)
    assert "nothing is trained" in " ".join(ncgc("bench", "show").out.split())


def test_help_does_not_wait_for_torch():
    script = (
        "import sys; from ncgc.cli import main; main(['bench', 'table', '--help']); sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def test_a_study_is_made_once_and_shown(here, bench, study, tmp_path):
    result = bench("study", study)
    assert result.code == 0
    assert "4 runs: 0 done, 4 to make." in result.out
    assert re.search(r"4/4  digits 1 a_b seed 1001  test \d+\.\d %", result.out)
    assert "All 4 runs are there." in result.out
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["study-tiny.jsonl"]
    again = bench("study", study)
    assert "4 runs: 4 done, 0 to make." in again.out
    assert len(lines(tmp_path / "results")) == 4
    assert "4 runs: 4 done, 0 to make." in bench("study", study, "--dry-run").out


@pytest.mark.parametrize(
    "words",
    [
        ("ablation", "--datasets", "digits", "--runs", "1"),
        ("sweep", "--datasets", "digits", "--parameter", "beta", "--values", "0.1,0.2", "--runs", "1"),
        ("labels", "--datasets", "digits", "--labels", "1,2", "--runs", "1", "--backbones", "gcn"),
        ("table", "--datasets", "digits", "--backbones", "gcn", "--runs", "1"),
        ("leaderboard", "--datasets", "digits", "--methods", "ncgc,sgc", "--runs", "1"),
    ],
)
def test_every_verb_makes_its_plan_and_show_shows_it(here, bench, monkeypatch, tmp_path, words):
    monkeypatch.setattr("ncgc_bench.plans.preset", lambda *_: {"hidden": 4, "epochs": 2, "warmup": 0, "ramp": 1})
    made = bench(*words)
    assert made.code == 0
    assert (tmp_path / "results" / f"{words[0]}.jsonl").exists()
    monkeypatch.setattr(pool, "make", None)  # nothing is trained from here on
    shown = bench("show", *words)
    assert shown.code == 0
    assert shown.out.strip() in made.out
    assert "are missing" not in shown.out
    assert re.search(r" \d+\.\d", shown.out)


def test_show_before_anything_is_made(bench, study):
    result = bench("show", "study", study)
    assert result.code == 0
    assert "4 of 4 runs are missing." in result.out


def test_show_in_every_form(here, bench, study):
    bench("study", study)
    markdown = bench("show", "study", study, "--format", "markdown").out
    assert "| variant | digits 1 | s |" in markdown
    latex = bench("show", "study", study, "--format", "latex").out
    assert r"a\_b" in latex
    assert all(line.startswith(("%", "\\")) or line.endswith(r"\\") for line in latex.splitlines() if line)
    result = bench("show", "study", study, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["kind"] for row in rows] == ["mean", "mean", "difference"]
    assert "All 4 runs are there." in result.err
    seconds = bench("show", "study", study, "--quantity", "seconds", "--format", "csv").out
    means = [float(row["mean"]) for row in csv.DictReader(io.StringIO(seconds)) if row["kind"] == "mean"]
    assert min(means) >= 0


def test_show_the_first_tables_alone(here, bench, study):
    bench("study", study)
    words = ("show", "study", study, "--format", "markdown")
    both, first = (bench(*words, *more).out for more in ((), ("--tables", "1")))
    assert (both.count("| variant |"), first.count("| variant |")) == (2, 1)
    refused = bench(*words, "--tables", "0")
    assert refused.code == 2
    assert "--tables must be a whole number from 1. Got 0 instead." in refused.err


def test_the_paired_difference_is_that_of_the_records(here, bench, study, tmp_path):
    bench("study", study)
    accuracy = {(r["settings"]["kl"], r["seed"]): r["val_accuracy"] for r in lines(tmp_path / "results")}
    expected = sum(accuracy[False, seed] - accuracy[True, seed] for seed in (1000, 1001)) / 2
    rows = csv.DictReader(io.StringIO(bench("show", "study", study, "--format", "csv").out))
    (pair,) = [row for row in rows if row["kind"] == "difference"]
    assert float(pair["mean"]) == pytest.approx(100 * expected)


def test_what_fails_is_listed_and_the_others_go_on(here, bench, tmp_path):
    here[0] = "No memory."
    result = bench(*TABLE)
    assert result.code == 2
    assert result.err == "Error: 1 run failed (digits label_spreading seed 0): No memory.\n"
    assert [record["seed"] for record in lines(tmp_path / "results")] == [1]
    here.clear()
    assert bench(*TABLE).code == 0


def test_ctrl_c_between_runs_keeps_what_is_done(here, bench, monkeypatch, tmp_path):
    make = pool.make

    def stopped(*words, **more):
        yield next(iter(make(*words, **more)))
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "make", stopped)
    result = bench(*TABLE)
    assert result.code == 130
    assert result.err == "Interrupted: 1 of 2 runs are done and stored; the same command resumes.\n"
    assert "(1/2)" in result.out
    monkeypatch.setattr(pool, "make", make)
    assert bench(*TABLE).code == 0
    assert sorted(record["seed"] for record in lines(tmp_path / "results")) == [0, 1]


@pytest.mark.skipif(os.name != "posix", reason="sends Ctrl-C to a group of processes")
@pytest.mark.parametrize(("sign", "done"), [("to make", 0), ("2/4", 2)])
def test_ctrl_c_reaches_the_processes_quietly(tmp_path, sign, done):
    """As a terminal does, to the whole group: while processes are being begun, and while they have runs at hand."""
    study = tmp_path / "long.toml"
    short, long = "[variants.all]\nepochs = 3", "epochs = 100000\npatience = 100000"
    text = STUDY.replace("epochs = {epochs}", long)
    study.write_text(text.replace("[variants.all]", short) if done else text)
    script = "import sys; from ncgc.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "bench", "study", study, "--results", tmp_path / "results", "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    assert process.stdout is not None
    while sign not in (line := process.stdout.readline()):
        assert line
    started = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not done and started.exists() and not started.read_text():
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, err = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == f"Interrupted: {done} of 4 runs are done and stored; the same command resumes.\n"
    assert len(Store(tmp_path / "results")) == done


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("bench", "tabel"), "'table'"),
        (("bench", "table", "--datasets", "coraa"), "did you mean 'cora'"),
        (("bench", "table", "--backbones", "gnc"), "did you mean 'gcn'"),
        (("bench", "table", "--settings", "non"), "Unknown settings"),
        (("bench", "table", "--datasets", ","), "--datasets is empty"),
        (("bench", "table", "--jobs", "0"), "--jobs must be"),
        (("bench", "table", "--threads", "-1"), "--threads must be"),
        (("bench", "table", "--data", "/no/such/place"), "/no/such/place"),
        (("bench", "table", "--datset", "cora"), "did you mean '--datasets'"),
        (("bench", "study"), "FILE"),
        (("bench", "study", "/no/such.toml"), "cannot be read"),
        (("bench", "show", "table", "--format", "htm"), "Unknown format"),
        (("bench", "show", "table", "--quantity", "test_acuracy"), "did you mean 'test_accuracy'"),
        (("bench", "speed", "coraa"), "did you mean 'cora'"),
        (("bench", "speed", "--show", "/no/such.jsonl"), "cannot be read"),
        (("bench", "speed", "digits"), "nothing for the data set 'digits'"),
        (("bench", "figures", "--formats", ","), "--formats is empty"),
    ],
)
def test_wrong_input_is_one_sentence(ncgc, words, part):
    result = ncgc(*words)
    assert result.code == 2
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert part in result.err


@pytest.mark.parametrize("verb", [("study",), ("show", "study")])
def test_a_store_that_is_not_json_is_one_sentence(bench, study, tmp_path, verb):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "table.jsonl").write_text("hello\n")
    result = bench(*verb, study)
    assert result.code == 2
    assert "table.jsonl, line 1, is not JSON" in result.err
    assert result.err.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_told_before_the_work(here, ncgc, study, tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "results"):
        result = ncgc("bench", "study", study, "--results", folder)
        assert result.code == 2
        assert str(folder) in result.err
        assert "seed" not in result.out


def test_a_data_set_that_is_nowhere_fails_its_runs_alone(here, bench):
    result = bench(*(word.replace("digits", "digits,cora") for word in TABLE))
    assert result.code == 2
    assert result.err.startswith(
        "Error: 2 runs failed (cora label_spreading seed 0 and 1 more): The data set 'cora' is not"
    )
    assert "digits label_spreading seed 1" in result.out


def test_speed_shows_earlier_results(ncgc):
    path = Path(__file__).resolve().parents[3] / "benchmarks/results/speed-gcn.jsonl"
    result = ncgc("bench", "speed", "--show", path)
    assert result.code == 0
    assert "| geometric mean |" in result.out


def test_figures_without_matplotlib_is_one_sentence(bench, monkeypatch, tmp_path):
    monkeypatch.setattr("ncgc_bench.cli.bench.find_spec", lambda name: None)
    result = bench("figures", "--out", tmp_path / "figures")
    assert result.code == 2
    assert "pip install 'ncgc[bench]'" in result.err


def test_figures_of_nothing_are_none(bench, tmp_path):
    pytest.importorskip("matplotlib")
    result = bench("figures", "--out", tmp_path / "figures")
    assert result.code == 0
    assert "holds nothing to draw yet" in result.out
