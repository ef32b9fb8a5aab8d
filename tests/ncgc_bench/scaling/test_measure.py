"""How training scales: measured in processes of their own, once, and shown as exponents and ratios."""

import json

import pytest

from ncgc.cli import main as ncgc
from ncgc.errors import ParameterError, TrainingError
from ncgc_bench.scaling import measure as scale
from ncgc_bench.scaling.tables import exponent, growth, read_rows, tables, targets


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The file and the first three measurements of the quick plan, at 1,000 nodes."""
    folder = tmp_path_factory.mktemp("scale")
    tasks = list(scale.plan([1000], epochs=4, quick=True, threads=1))
    rows = list(scale.run(tasks[:3], folder / "scale.jsonl", folder))
    return folder, tasks, rows


def test_every_measurement_has_its_time_and_its_peak(measured):
    _, _, rows = measured
    assert [row["name"] for row in rows] == ["generate", "read", "train"]
    assert all(row["peak_mib"] > 50 and row["load"] >= 0 for row in rows)
    assert rows[1]["edges"] == 10_000
    assert 0 < rows[2]["fastest"] <= rows[2]["epoch_seconds"] <= rows[2]["slowest"]
    assert rows[2]["epochs"] == 4
    assert 0 <= rows[2]["test_accuracy"] <= 1


def test_the_quick_plan_ends_with_accuracy_by_parts(measured, tmp_path):
    folder, tasks, _ = measured
    (row,) = scale.run(tasks[-1:], tmp_path / "scale.jsonl", folder)
    assert row["name"] == "by parts"
    assert 0 <= row["test_accuracy"] <= 1


def test_what_is_in_the_file_is_not_measured_again(measured, monkeypatch):
    folder, tasks, rows = measured
    before = (folder / "scale.jsonl").read_text()
    monkeypatch.setattr(scale, "measured", lambda task, place: pytest.fail("measured again"))
    assert list(scale.run(tasks[:3], folder / "scale.jsonl", folder)) == rows
    assert (folder / "scale.jsonl").read_text() == before
    other = {**tasks[2], "threads": 3}  # another measurement under the same name
    with pytest.raises(pytest.fail.Exception):
        list(scale.run([other], folder / "scale.jsonl", folder))


def test_a_failed_measurement_is_a_sentence_and_leaves_no_line(measured, tmp_path):
    _, tasks, _ = measured
    wrong = {**tasks[2], "settings": tasks[2]["settings"] | {"norm": "batch"}}
    with pytest.raises(TrainingError, match=r"'train' failed: .*norm='batch' does not train by parts"):
        list(scale.run([wrong], tmp_path / "scale.jsonl", measured[0]))
    assert not (tmp_path / "scale.jsonl").exists()


def test_the_plan_holds_the_issue_s_questions():
    tasks = list(scale.plan(scale.SIZES, scale.EPOCHS))
    names = [(task["name"], task["nodes"]) for task in tasks]
    assert len(set(names)) == len(names)
    assert ("by parts", 1_000_000) in names
    assert ("full batch 0", 100_000) in names
    one, two = (next(task for task in tasks if task["name"] == f"ranks {count}") for count in (1, 2))
    assert (one["threads"], two["threads"]) == (2, 1)
    assert one["settings"] == two["settings"]
    for task in tasks:
        if task["name"] == "train":
            assert 10_000 <= task["nodes"] / task["settings"]["parts"] <= 25_000


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


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--sizes", "ten"], "--sizes must be numbers"),
        (["--sizes", "10"], "must begin between 1,000"),
        (["--epochs", "3"], "--epochs must be a whole number from 4"),
        (["--threads", "0"], "--threads must be a whole number from 1"),
        (["--show", "--results", "nowhere.jsonl"], "cannot be read"),
    ],
)
def test_bad_options_are_sentences(words, sentence, capsys):
    assert scale.main(words) == 2
    assert sentence in capsys.readouterr().err


def test_a_file_of_something_else(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(ParameterError, match="not what benchmarks"):
        read_rows(tmp_path / "x.jsonl")
