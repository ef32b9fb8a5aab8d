"""What goes wrong in `ncgc fit` is one sentence that says where, exit code 2, and leaves nothing behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ncgc.training.engines.full_batch import FullBatch


@pytest.fixture
def refused(fit, tables, tmp_path, monkeypatch):
    """Asserts that a fit fails with one sentence and writes nothing; the sentence."""

    def run(*words, given=None):
        monkeypatch.chdir(tmp_path)
        given = tables() if given is None else given
        before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file != tmp_path / "run"}
        result = fit(*words, given=given)
        assert result.code == 2, result.err
        assert result.err.startswith("Error: ")
        assert result.err.count("\n") == 1, result.err
        assert result.err.rstrip().endswith((".", "?"))
        assert "Traceback" not in result.err
        assert ".ncgc-" not in result.err
        after = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
        assert after == before
        return result.err

    return run


def change(path, edit):
    """A table, edited as a frame of text."""
    frame = edit(pd.read_csv(path, dtype=str, keep_default_na=False))
    frame.to_csv(path, index=False)


def cell(row, column, value):
    """An edit of one cell; ``row`` is the one an editor shows, the header being 1."""

    def edit(frame):
        frame.loc[row - 2, column] = value
        return frame

    return edit


TABLES = [
    ("nodes", cell(9, "id", "n00"), ["nodes.csv", "row 9", "n00"]),
    ("nodes", cell(9, "id", ""), ["nodes.csv", "row 9"]),
    ("edges", cell(7, "target", "nobody"), ["edges.csv row 7", "nobody"]),
    ("edges", cell(7, "source", ""), ["edges.csv row 7"]),
    ("nodes", cell(5, "age", "nan"), ["nodes.csv row 5", "'age'"]),
    ("nodes", cell(5, "age", "inf"), ["nodes.csv row 5", "'age'"]),
    ("nodes", cell(5, "age", "-Infinity"), ["nodes.csv row 5", "'age'"]),
    ("nodes", cell(5, "age", "1e400"), ["nodes.csv row 5", "'age'", "not a finite number"]),
    ("nodes", lambda frame: frame.assign(label=frame["label"].replace({"ham": "eggs", "spam": "eggs"})), ["nodes.csv", "'eggs'"]),
    ("nodes", lambda frame: frame.assign(label=""), ["nodes.csv", "no node has a label"]),
    ("nodes", lambda frame: frame.drop(columns="label"), ["nodes.csv has no column of labels"]),
    ("nodes", lambda frame: frame[["id"]], ["nodes.csv has only one column, 'id'", "delimiter"]),
    ("nodes", lambda frame: frame[:0], ["nodes.csv has a header but no rows"]),
    ("edges", lambda frame: frame.assign(weight="-1"), ["edges.csv row 2"]),
    ("edges", lambda frame: frame.assign(weight="heavy"), ["edges.csv row 2"]),
]  # fmt: skip


@pytest.mark.parametrize(("table", "edit", "parts"), TABLES)
def test_a_bad_table(refused, tables, tmp_path, table, edit, parts):
    given = tables()
    change(tmp_path / f"{table}.csv", edit)
    sentence = refused(given=given)
    for part in parts:
        assert part in sentence


def test_more_than_a_thousand_classes(refused, tmp_path):
    frame = pd.DataFrame({"id": range(2100), "label": [f"c{i}" if i < 1001 else "" for i in range(2100)], "f": 1.5})
    frame.to_csv(tmp_path / "n.csv", index=False)
    pd.DataFrame({"source": [0, 1], "target": [1, 2]}).to_csv(tmp_path / "e.csv", index=False)
    assert "1,001 different labels" in refused(given=["--nodes", "n.csv", "--edges", "e.csv"])


FILES = {
    "empty.csv": (b"", "empty.csv"),
    "blank.csv": (b"\n\n", "blank.csv"),
    "latin.csv": ("id,label\nA,gr\u00fcn\n".encode("latin-1"), "latin.csv row 2"),
    "binary.csv": (bytes(range(256)) * 9, "binary.csv"),
    "ragged.csv": (b"id,label\nA,x\nB,y,z\n", "ragged.csv row 3"),
    "twice.csv": (b"id,label,label\nA,x,y\n", "'label'"),
    "cut.csv.gz": (b"\x1f\x8b\x08\x00\x00", "cut.csv.gz is not a whole gzip file"),
    "cut.parquet": (b"PAR1\x15\x04", "cut.parquet is not a whole Parquet file"),
    "empty.parquet": (b"", "empty.parquet is empty"),
    "book.xlsx": (b"PK", "book.xlsx has an extension that is not known"),
    "bad.graphml": (b"<graphml>", "bad.graphml"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file(refused, tables, tmp_path, name):
    content, part = FILES[name]
    given = [] if name.endswith("graphml") else tables()[2:]
    (tmp_path / name).write_bytes(content)
    assert part in refused(given=["--nodes", name, *given])


def test_half_a_parquet_file(refused, tables, tmp_path):
    given = tables()
    pq.write_table(pa.table({"id": ["a", "b"]}), tmp_path / "nodes.parquet")
    content = (tmp_path / "nodes.parquet").read_bytes()
    (tmp_path / "nodes.parquet").write_bytes(content[: len(content) // 2])
    assert "nodes.parquet" in refused(given=["--nodes", "nodes.parquet", *given[2:]])


def test_a_delimiter_that_is_not_the_files(refused):
    sentence = refused("--delimiter", ";")
    assert "nodes.csv has only one column, 'id," in sentence
    assert "give the delimiter" in sentence


def test_loops_alone_and_no_features(refused, tables, tmp_path):
    given = tables()
    change(tmp_path / "edges.csv", lambda frame: frame.assign(target=frame["source"]))
    sentence = refused("--features", "none", given=given)
    assert "No edge joins two nodes of nodes.csv" in sentence
    change(tmp_path / "nodes.csv", lambda frame: frame[["id", "label"]])
    assert refused(given=given) == sentence


def test_numbers_too_large_are_no_warning_beside_the_sentence(refused, tables, tmp_path):
    np.save(tmp_path / "large.npy", np.full((48, 2), 1e300))
    assert "large.npy row 1, column 1" in refused("--features", "large.npy")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--nodes", "nodse.csv"), ["nodse.csv", "there is nodes.csv"]),
        (("--edges", "nowhere/edges.csv"), ["nowhere/edges.csv"]),
        (("--nodes", "."), ["is a folder"]),
        (("--id", "idd"), ["nodes.csv", "'idd'", "did you mean 'id'?"]),
        (("--label", "lable"), ["nodes.csv", "'lable'", "did you mean 'label'?"]),
        (("--source", "von"), ["edges.csv", "'von'"]),
        (("--target", "nach"), ["edges.csv", "'nach'"]),
        (("--weight", "w"), ["edges.csv", "'w'"]),
        (("--split", "part"), ["nodes.csv", "'part'", "split"]),
        (("--split", "town"), ["nodes.csv row 2", "write train, val or test"]),
        (("--features", "agee"), ["nodes.csv", "did you mean 'age'?"]),
        (("--features", "label"), ["'label'", "cannot be a feature"]),
        (("--features", "age,,town"), ["an empty name"]),
        (("--features", "town:number"), ["nodes.csv row 2", "'town'"]),
        (("--features", "x.npy"), ["x.npy"]),
        (("--features", "bad.npy"), ["bad.npy row 3, column 2"]),
        (("--features", "short.npy"), ["short.npy has 5 rows", "48 nodes"]),
        (("--delimiter", "abc"), ["delimiter"]),
        (("--abstain", "2"), ["'abstain'"]),
        (("--abstain", "much"), ["--abstain takes a number", "'much'"]),
        (("--folds", "1"), ["'folds'"]),
        (("--folds", "2.5"), ["--folds takes a number"]),
        (("--abstain", "0.9", "--folds", "0"), ["needs a calibrated confidence"]),
        (("--format", "xlsx"), ["'format'"]),
        (("--seed", "-1"), ["'seed'"]),
        (("--hidden", "many"), ["'hidden'", "'many'"]),
        (("--scaling", "log"), ["'scaling'", "'log'"]),
        (("--backbone", "gat", "--heads", "3"), ["'heads'"]),
        (("--prior", "1,2"), ["prior"]),
        (("--hiden", "8"), ["did you mean '--hidden'?"]),
        (("--config", "missing.toml"), ["missing.toml"]),
        (("--config", "bad.toml"), ["bad.toml", "'hiden'"]),
    ],
)
def test_a_bad_option(refused, tmp_path, words, parts):
    matrix = np.ones((48, 3))
    matrix[2, 1] = np.inf
    np.save(tmp_path / "bad.npy", matrix)
    np.save(tmp_path / "short.npy", matrix[3:8])
    (tmp_path / "bad.toml").write_text("hiden = 8")
    sentence = refused(*words)
    for part in parts:
        assert part in sentence


def test_no_tables_and_no_folder(ncgc, tables):
    assert (
        ncgc("fit", "--out", "x").err
        == "Error: Which nodes? Give --nodes and --edges, or a --config that names them.\n"
    )
    assert ncgc("fit", *tables()).err == "Error: Where to? Give a folder to write with --out.\n"


def test_edges_that_are_missing_or_too_many(refused, tables, tmp_path):
    given = tables()
    assert "The edges are missing" in refused(given=given[:2])
    (tmp_path / "g.graphml").write_text("<graphml/>")
    assert "give no second file" in refused(given=["--nodes", "g.graphml", *given[2:]])


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_folder_that_cannot_be(fit, tmp_path, out):
    (tmp_path / "file").write_text("")
    result = fit(out=out)
    assert result.code == 2
    assert result.err.startswith("Error: The ")
    assert result.err.count("\n") == 1


# ---------------------------------------------------------------- in the midst of it


@pytest.mark.parametrize("call", [1, 2, 3, 6])
def test_a_full_disk(refused, tables, tmp_path, monkeypatch, call):
    """At the first file, a later one, and in the model folder."""
    given, calls = tables(), []

    def full(number):
        calls.append(number)
        if len(calls) == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    sentence = refused(given=given)
    assert len(calls) == call
    assert "No space left on device" in sentence
    assert str(tmp_path / "run") in sentence


def test_a_full_disk_leaves_the_earlier_run(fit, tmp_path, monkeypatch):
    def contents():
        return {file: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()}

    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    fit()
    before = contents()
    monkeypatch.setattr(os, "fsync", full)
    assert fit("--overwrite", "--seed", 1).code == 2
    assert contents() == before


@pytest.fixture
def heeded():
    """Ctrl-C as a person's shell has it, even where the tests run in the background."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


@pytest.mark.parametrize("training", [1, 2, 3], ids=["training", "first fold", "second fold"])
def test_ctrl_c_writes_nothing(fit, tables, tmp_path, monkeypatch, heeded, training):
    given, begun, step = tables(), [], FullBatch.step

    def pressed(self, epoch):
        begun.append(epoch == 1)
        if sum(begun) == training and epoch == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return step(self, epoch)

    monkeypatch.setattr(FullBatch, "step", pressed)
    result = fit(given=given, lean=False)
    assert result.code == 130
    assert result.err == "Interrupted; nothing was written.\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["edges.csv", "nodes.csv"]


def test_a_run_killed_while_writing_leaves_no_result_and_is_not_in_the_way(fit, tables, tmp_path):
    """In a folder that was there and empty: what is left has a temporary name, and the next run needs no --overwrite."""
    given, run = tables(), tmp_path / "run"
    run.mkdir()
    script = (
        "import os, signal, sys; from ncgc.cli import main; count = []\n"
        "def kill(number):\n"
        "    count.append(number)\n"
        "    if len(count) == 4: os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.fsync = kill; main(sys.argv[1:])\n"
    )
    brief = ("--epochs", "3", "--hidden", "4", "--folds", "0", "--no-report", "--quiet")
    done = subprocess.run([sys.executable, "-c", script, "fit", *given, "--out", str(run), *brief], check=False)
    assert done.returncode == -signal.SIGKILL
    assert all(file.name.startswith(".ncgc-") for file in run.iterdir())
    assert fit(given=given).code == 0
    assert (run / "predictions.csv").is_file()


def test_a_killed_run_leaves_nothing(interrupted, tables, tmp_path):
    long = ("--epochs", 10**6, "--patience", 10**6, "--hidden", 8, "--json")
    words = ("fit", *tables(), "--out", tmp_path / "run", *long)
    result = interrupted(*words, after=" epoch ", number=signal.SIGKILL)
    assert result.code == -signal.SIGKILL
    assert sorted(file.name for file in tmp_path.iterdir()) == ["edges.csv", "nodes.csv"]
