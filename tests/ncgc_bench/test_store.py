"""The store: what was written is found again, whatever crash came between."""

from __future__ import annotations

import json

import pytest

from ncgc.runs.spec import RunSpec
from ncgc_bench.store import Store, StoreError

RUNS = [RunSpec.on_dataset("digits", "few", 1, seed) for seed in range(4)]


def test_what_is_added_is_found_here_and_by_the_next(store, record):
    store.add("table", record(RUNS[0], 0.7))
    assert store.find(RUNS[0])["test_accuracy"] == 0.7
    assert Store(store.folder).find(RUNS[0]) == store.find(RUNS[0])
    assert store.find(RUNS[1]) is None
    assert len(store) == 1


def test_missing_are_those_without_a_record_each_once(store, record):
    store.add("table", record(RUNS[1]))
    assert store.missing([*RUNS, *RUNS]) == [RUNS[0], RUNS[2], RUNS[3]]


def test_all_files_of_the_folder_count(store, record):
    store.add("table", record(RUNS[0]))
    store.add("labels", record(RUNS[1]))
    again = Store(store.folder)
    assert again.missing(RUNS) == RUNS[2:]
    assert {path.name for path in store.folder.iterdir()} == {"table.jsonl", "labels.jsonl"}


def test_the_first_of_equals_stays(store, record):
    store.add("table", record(RUNS[0], 0.7))
    store.add("table", record(RUNS[0], 0.9))
    assert store.find(RUNS[0])["test_accuracy"] == 0.7
    again = Store(store.folder)
    assert again.find(RUNS[0])["test_accuracy"] == 0.7
    assert [one["test_accuracy"] for one in again] == [0.7]


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
def test_a_line_cut_by_a_crash_is_passed_over_and_the_next_one_stands_alone(store, record, share):
    store.add("table", record(RUNS[0]))
    path = store.folder / "table.jsonl"
    line = json.dumps(record(RUNS[1]))
    path.write_text(path.read_text() + line[: max(1, int(share * len(line)))])
    again = Store(store.folder)
    assert again.missing(RUNS[:2]) == [RUNS[1]]
    again.add("table", record(RUNS[2]))
    third = Store(store.folder)
    assert third.missing(RUNS) == [RUNS[1], RUNS[3]]
    assert json.loads(path.read_text().splitlines()[-1])["seed"] == 2


def test_a_line_cut_inside_the_file_after_a_whole_brace_is_passed_over(store, record):
    line = json.dumps(record(RUNS[0]))
    cut = line[: line.index("}") + 1]  # ends the settings, not the record
    store.folder.mkdir()
    (store.folder / "table.jsonl").write_text(cut + "\n" + json.dumps(record(RUNS[1])) + "\n")
    assert Store(store.folder).missing(RUNS[:2]) == [RUNS[0]]


@pytest.mark.parametrize("text", ["hello\n", "<<<<<<< HEAD\n{}\n", "{'a': 1}\n", b"\xff\xfe\x00\n"])
def test_what_is_not_json_is_named_with_its_line(store, text):
    store.folder.mkdir()
    path = store.folder / "table.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(StoreError, match=r"table\.jsonl, line 1, is not JSON"):
        Store(store.folder)


def test_other_results_in_the_folder_are_passed_over(store, record):
    store.add("table", record(RUNS[0]))
    (store.folder / "speed-gcn.jsonl").write_text('{"dataset": "cora", "ours_ms": 1.0}\n[1, 2]\n\n')
    (store.folder / "odd.jsonl").write_text(json.dumps({**record(RUNS[1]), "settings": 3}) + "\n")
    assert len(Store(store.folder)) == 1


def test_a_folder_that_is_none_holds_nothing_and_takes_nothing(tmp_path, record):
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file")
    assert len(store) == 0
    with pytest.raises(StoreError, match="cannot be written"):
        store.add("table", record(RUNS[0]))


def test_a_record_that_json_cannot_hold_is_not_half_written(store, record):
    with pytest.raises(ValueError, match="JSON"):
        store.add("table", record(RUNS[0], float("nan")))
    assert len(Store(store.folder)) == 0
