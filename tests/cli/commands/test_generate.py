"""`ncgc generate`: a graph from options, and `ncgc fit` on it with the command it shows."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pandas as pd
import pytest

from ncgc.datasets.synthetic import folder

SMALL = ("--nodes", 1000, "--classes", 3)
QUICK = ("--epochs", "30", "--warmup", "10", "--ramp", "5", "--hidden", "16", "--folds", "0", "--no-report")


def one_sentence(err):
    return err.startswith("Error: ") and err.count("\n") == 1 and "Traceback" not in err


@pytest.mark.parametrize("features", [60, 300])
def test_fit_reads_it_with_the_command_that_is_shown(ncgc, tmp_path, features):
    made = ncgc("generate", tmp_path / "a graph", *SMALL, "--features", features, "--homophily", 0.8)
    assert (made.code, made.err) == (0, "")
    command = next(line for line in made.out.splitlines() if line.startswith("next")).removeprefix("next").strip()
    words = shlex.split(command)
    assert words[:2] == ["ncgc", "fit"]
    fitted = ncgc(*words[1:], *QUICK, "--json")
    assert fitted.code == 0
    assert (fitted.json["nodes"], fitted.json["edges"], fitted.json["features"]) == (1000, 5000, features)
    assert fitted.json["given"] == 60
    assert fitted.json["test_accuracy"] > 0.7
    truth = pd.read_parquet(tmp_path / "a graph" / "truth.parquet")
    labels = pd.read_csv(tmp_path / "a graph-run" / "predictions.csv")
    assert labels["id"].tolist() == truth["id"].tolist()
    right = (labels["label"] == truth["label"])[~labels["given"]].mean()
    assert right == pytest.approx(fitted.json["test_accuracy"], abs=0.08)


def test_what_is_shown(ncgc, tmp_path):
    result = ncgc("generate", tmp_path / "g", "--nodes", "2e3", "--edges", 7000, "--classes", 4, "--test", 100)
    lines = result.out.splitlines()
    assert lines[0] == "graph    2,000 nodes, 7,000 edges, 100 features, 4 classes; 50.0 % of edges inside a class"
    assert [line.split()[0] for line in lines] == ["graph", "size", "classes", "labels", "written", "next"]
    assert lines[3] == "labels   80 for training, 120 for validation, 100 for testing"


def test_json_and_quiet(ncgc, tmp_path):
    result = ncgc("generate", tmp_path / "g", *SMALL, "--json", "--seed", 3)
    assert result.out.count("\n") == 1
    assert (result.json["num_nodes"], result.json["edges"], result.json["seed"]) == (1000, 5000, 3)
    assert sum(result.json["class_sizes"]) == 1000
    assert result.json["bytes"] == sum(file.stat().st_size for file in (tmp_path / "g").iterdir())
    assert "graph" in result.err
    quiet = ncgc("generate", tmp_path / "g", *SMALL, "--quiet", "--overwrite")
    assert quiet.out == result.json["command"] + "\n"
    assert json.loads(ncgc("generate", tmp_path / "g", *SMALL, "--quiet", "--overwrite", "--json").out)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            ("--nodes", "many"),
            "'nodes' parameter of ncgc generate must be an int in the range [2, 2147483647]. Got 'many'",
        ),
        (("--nodes", "2.5"), "Got '2.5' instead"),
        (("--nodes", "inf"), "Got 'inf' instead"),
        (("--classes", "0"), "'classes'"),
        (("--homophily", "2"), "'homophily'"),
        (("--degree-exponent", "1"), "or none. Got 1.0 instead"),
        (("--edges", "0"), "'edges'"),
        (("--edges", "10", "--mean-degree", "3"), "give --edges or --mean-degree"),
        (("--nodes", "100"), "give more nodes, or fewer labels"),
        (("--nodes", "600", "--classes", "2", "--edges", "150000"), "more than half of the"),
        (("--classes", "30", "--class-skew", "3"), "less class skew"),
        (("--noddes", "3"), "did you mean '--nodes'?"),
    ],
)
def test_bad_input_is_one_sentence(ncgc, tmp_path, words, part):
    result = ncgc("generate", tmp_path / "g", *words)
    assert result.code == 2
    assert one_sentence(result.err)
    assert part in result.err
    assert list(tmp_path.iterdir()) == []


def test_no_folder_is_one_sentence(ncgc):
    result = ncgc("generate")
    assert result.code == 2
    assert one_sentence(result.err)


def test_an_existing_folder_is_refused_before_the_work(ncgc, tmp_path, monkeypatch):
    assert ncgc("generate", tmp_path / "g", *SMALL).code == 0
    monkeypatch.setattr(folder, "draw_nodes", lambda model: pytest.fail("work was done"))
    result = ncgc("generate", tmp_path / "g", *SMALL)
    assert result.code == 2
    assert one_sentence(result.err)
    assert "--overwrite" in result.err


def test_ctrl_c_leaves_nothing(ncgc, tmp_path, monkeypatch):
    def stopped(*_):
        yield from ()
        raise KeyboardInterrupt

    monkeypatch.setattr(folder, "word_blocks", stopped)
    result = ncgc("generate", tmp_path / "g", *SMALL)
    assert (result.code, result.err) == (130, "Interrupted.\n")
    assert list(tmp_path.iterdir()) == []


def test_it_does_not_wait_for_torch(tmp_path):
    script = "import sys; from ncgc.cli import main; code = main(); sys.exit(code or 'torch' in sys.modules)"
    words = ["generate", str(tmp_path / "g"), "--nodes", "1000"]
    subprocess.run([sys.executable, "-c", script, *words], check=True, stdout=subprocess.DEVNULL)
