"""What a running experiment shows: within any terminal, and as lines elsewhere."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from ncgc_bench.cli.live import LiveTable, Watch, duration, failures, time_left, watch
from ncgc_bench.plans import labels_plan, sweep_plan, table_plan
from ncgc_bench.pool import Outcome
from ncgc_bench.store import Store


def record_of(run, accuracy=0.8125):
    data = {"dataset": run.dataset.name, "split": run.dataset.split, "labels_per_class": run.dataset.labels_per_class}
    record = data | {name: getattr(run, name) for name in ("seed", "method", "settings")}
    return record | {"test_accuracy": accuracy, "val_accuracy": None, "seconds": 4.0}


PLANS = {
    "table": table_plan(runs=2),
    "labels": labels_plan(runs=2),
    "sweep": sweep_plan(runs=2),
}


def screen(width: int, height: int = 24, terminal: bool = True) -> Console:
    return Console(file=io.StringIO(), width=width, height=height, force_terminal=terminal, color_system=None)


@pytest.fixture(params=PLANS)
def entries(request):
    return PLANS[request.param]


@pytest.mark.parametrize("size", [(20, 6), (40, 10), (80, 24), (160, 50), (300, 90)])
def test_the_table_fits_any_terminal_and_shows_what_is_running(entries, tmp_path, size):
    store = Store(tmp_path)
    half = len(entries) // 2
    for entry in entries[:half]:
        if store.find(entry.run) is None:
            store.add("table", record_of(entry.run))
    console = screen(*size)
    table = LiveTable(entries, store, console, jobs=2, quantity="test_accuracy")
    for run in list(table.waiting.values())[:2]:
        table.started(run)
    console.print(table)
    lines = console.file.getvalue().splitlines()
    assert len(lines) <= size[1]
    assert max(map(len, lines)) <= size[0]
    if size[0] >= 80:
        assert "▸" in console.file.getvalue()
        assert "81.2" in console.file.getvalue()


def test_a_wide_terminal_has_the_whole_cell(tmp_path):
    store = Store(tmp_path)
    entries = table_plan(("cora",), ("gcn",), runs=3)
    for entry, accuracy in zip(entries[:2], (0.81, 0.82), strict=True):
        store.add("table", record_of(entry.run, accuracy))
    console = screen(80)
    console.print(LiveTable(entries, store, console, 2, "test_accuracy"))
    assert "81.5 ± 0.7 (2/3)" in console.file.getvalue()
    assert "0/4 runs, 8 s left" in console.file.getvalue()


def test_elsewhere_a_line_a_run(tmp_path):
    store = Store(tmp_path)
    entries = table_plan(("cora",), ("gcn",), runs=1)
    console = screen(30, terminal=False)
    view = watch(entries, store, console, 1, "test_accuracy")
    assert type(view) is Watch
    runs = [entry.run for entry in entries]
    with view:
        for run in runs:
            view.started(run)
        store.add("table", record_of(runs[0]))
        view.finished(Outcome(runs[0], record_of(runs[0])))
        view.finished(Outcome(runs[1], None, "No memory."))
    lines = console.file.getvalue().splitlines()
    assert re.fullmatch(r"1/2  cora gcn ncgc seed 0  test 81.2 %  4.0 s  \(4 s left\)", lines[0])
    assert lines[1] == "2/2  cora gcn plain seed 0  failed: No memory."
    assert view.failed == [Outcome(runs[1], None, "No memory.")]


def test_a_terminal_gets_the_table(tmp_path):
    assert isinstance(watch(PLANS["table"], Store(tmp_path), screen(80), 1, "test_accuracy"), LiveTable)


def test_the_time_left_is_that_of_the_most_alike():
    done = [(("cora", "gcn", "ncgc"), 4.0), (("cora", "gcn", "plain"), 2.0), (("photo", "gcn", "ncgc"), 9.0)]
    assert time_left(done, [(("cora", "gcn", "ncgc"), 0.0)], 1) == 4.0
    assert time_left(done, [(("cora", "gcn", "ncgc"), 1.0)], 1) == 3.0
    assert time_left(done, [(("cora", "gcn", "ncgc"), 99.0)], 1) == 0.0
    assert time_left(done, [(("cora", "gat", "ncgc"), 0.0)], 1) == 3.0
    assert time_left(done, [(("cs", "gat", "ncgc"), 0.0)], 1) == 5.0
    assert time_left(done, [(("cs", "gat", "ncgc"), 0.0)] * 4, 2) == 10.0
    assert time_left(done, [(("cs", "gat", "ncgc"), 0.0)], 2) == 5.0  # a second job has nothing to do
    assert time_left([], [(("cs", "gat", "ncgc"), 0.0)], 2) is None


def test_durations():
    assert [duration(s) for s in (0.4, 99, 101, 3600, 7260)] == ["0 s", "99 s", "2 min", "60 min", "2 h 1 min"]


def test_like_failures_are_one_sentence():
    runs = [entry.run for entry in table_plan(("cora",), ("gcn",), runs=2)]
    failed = [Outcome(run, None, problem) for run, problem in zip(runs, ("A.", "B.", "A."), strict=False)]
    assert failures(failed, lambda run: f"seed {run.seed}") == [
        "2 runs failed (seed 0 and 1 more): A.",
        "1 run failed (seed 1): B.",
    ]
