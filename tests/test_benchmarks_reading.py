"""The reading benchmark: a small run makes a line and a table, and a word it does not know gets a sentence."""

import json
import sys
from pathlib import Path

import pytest

from ncgc.io import read_graph


@pytest.fixture(scope="module")
def reading():
    sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
    try:
        import reading
    finally:
        sys.path.pop(0)
    return reading


def test_a_small_run(reading, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reading, "peak", lambda nodes, edges: 123.0)  # a process of its own is slow to start
    store = tmp_path / "reading.jsonl"
    reading.main(["--edges", "500", "--nodes", "100", "--repeats", "2", "--store", str(store)])
    rows = [json.loads(line) for line in store.read_text().splitlines()]
    assert [(row["case"], row["edges"], row["nodes"]) for row in rows] == [("csv", 500, 100), ("parquet", 500, 100)]
    for row in rows:
        assert set(row["seconds"]) == {"ncgc", "pandas", "pyarrow"}
        assert row["over_pandas"] == pytest.approx(row["seconds"]["ncgc"] / row["seconds"]["pandas"], rel=0.1)
        assert row["peak_mib"] == 123
    table = capsys.readouterr().out
    assert table.count("\n") == 4
    reading.main(["--show", "--store", str(store)])
    assert capsys.readouterr().out == table


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_tables_are_what_they_say(reading, tmp_path, kind):
    graph = read_graph(*reading.Case(kind, 400, 100).write(tmp_path)).graph
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (100, reading.NUMBERS, len(set(graph.classes)))
    assert 300 < graph.num_edges < 400
    assert graph.weighted


def test_the_peak_is_that_of_a_process_that_reads(reading, tmp_path):
    assert 10 < reading._read_once(*reading.Case("csv", 50, 60).write(tmp_path)) < 1e5


def test_an_unknown_case(reading, capsys):
    with pytest.raises(SystemExit):
        reading.main(["exel"])
    assert "unknown case 'exel'; there are csv, parquet." in capsys.readouterr().err
