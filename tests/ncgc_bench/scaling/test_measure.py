"""How training scales: measured in processes of their own, once; bad options are sentences."""

import pytest

from ncgc.errors import TrainingError
from ncgc_bench.scaling import measure as scale


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
