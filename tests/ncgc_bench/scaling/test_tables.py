"""The tables of the measurements: exponents, ratios, and the latest of equal ones."""

import json

import pytest

from ncgc.cli import main as ncgc
from ncgc.errors import ParameterError
from ncgc_bench.scaling import measure as scale
from ncgc_bench.scaling.tables import exponent, growth, read_rows, tables, targets


def made(name, nodes, **figures):
    return {"name": name, "nodes": nodes, "settings": {"parts": 3}, "peak_mib": 100.0, **figures}


ROWS = [
    *(made("read", n, seconds=n / 1e4, edges=10 * n) for n in (1000, 10_000, 100_000)),
    *(made("train", n, epoch_seconds=(n / 1e3) ** 1.5) for n in (1000, 10_000, 100_000)),
    made("full batch 0", 10_000, val_accuracy=0.8, test_accuracy=0.7),
    made("full batch 1", 10_000, val_accuracy=0.7, test_accuracy=0.9),
    made("by parts", 100_000, val_accuracy=0.8, test_accuracy=0.695),
    made("ranks 1", 10_000, epoch_seconds=2.0),
    made("ranks 2", 10_000, epoch_seconds=3.0),
]


def test_exponents_and_ratios():
    assert exponent([1, 10, 100], [5, 50 * 10**0.5, 500 * 10]) == pytest.approx(1.5)
    assert growth(ROWS).rows[-1] == ("grows as n to the", "", "", "", "1.00", "0.00", "1.50", "0.00")
    found = {asked: value for asked, _, value in targets(ROWS).rows}
    assert found["time of an epoch by parts grows as n to the"].startswith("1.50")
    # chosen by validation, not by test
    assert found["test accuracy by parts at 100,000 nodes less full batch at 10,000"] == "-0.5 (69.5 % and 70.0 %)"
    ratio = found["epoch of two ranks over one process with two threads, 10,000 nodes"]
    assert ratio == "1.50 (3.00 s and 2.00 s)"


def test_tables_of_what_there_is():
    assert tables([]) == []
    assert len(tables(ROWS[:1])) == 1


def test_show_prints_the_latest(tmp_path, capsys):
    older = made("read", 1000, seconds=77.0, edges=10_000)
    text = "".join(json.dumps(row) + "\n" for row in [older, *ROWS])
    (tmp_path / "scale.jsonl").write_text(text)
    assert ncgc(["bench", "show", "scale", "--format", "markdown", "--results", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "| grows as n to the |" in shown
    assert "77.0" not in shown
    assert scale.main(["--show", "--results", str(tmp_path / "scale.jsonl")]) == 0
    assert "| grows as n to the |" in capsys.readouterr().out


def test_a_file_of_something_else(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(ParameterError, match="not what benchmarks"):
        read_rows(tmp_path / "x.jsonl")
