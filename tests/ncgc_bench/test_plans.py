"""Plans: every cell has its runs, and experiments share those that are the same."""

from __future__ import annotations

from collections import Counter

import pytest

from ncgc_bench.plans import ABLATION, DATASETS, LABELS, SWEEPS, ablation_plan, labels_plan, sweep_plan, table_plan


def test_a_table_has_every_cell_with_its_runs():
    cells = Counter(
        (entry.row, entry.column) for entry in table_plan(backbones=("gcn", "gat"), others=("label_spreading",))
    )
    rows = {("gcn", "ncgc"), ("gcn", "plain"), ("gat", "ncgc"), ("gat", "plain"), ("", "label_spreading")}
    assert set(cells) == {(row, dataset) for row in rows for dataset in DATASETS}
    assert all(number == (3 if dataset in ("cs", "physics") else 5) for (_, dataset), number in cells.items())


@pytest.mark.parametrize(("split", "runs"), [("random", 10), ("few", 10), ("public", 5)])
def test_how_many_runs_by_split(split, runs):
    assert [entry.run.seed for entry in table_plan(("cora",), ("gcn",), split, variants={"ncgc": {}})] == list(
        range(runs)
    )


def test_plain_takes_all_three_parts_out():
    plain = [entry.run for entry in table_plan(("cora",), ("gcn",)) if entry.variant == "plain"]
    assert all(not run.settings[part] for run in plain for part in ("soft_orthogonality", "kl", "pl"))


def test_the_ablation_shares_its_ends_with_the_table():
    table = {(e.variant, e.run.key) for e in table_plan(("cora",), ("gcn",))}
    ablation = {(e.variant, e.run.key) for e in ablation_plan(("cora",))}
    assert table < ablation
    assert len({key for _, key in ablation}) == 5 * len(ABLATION)  # no two variants are one


def test_a_sweep_shares_the_run_at_the_value_of_the_settings():
    entries = sweep_plan(("cora",), runs=1, settings="paper")  # whose GCN on Cora has β 0.003, ε 0.04 and T 3
    keys = Counter(entry.run.key for entry in entries)
    assert max(keys.values()) == len(SWEEPS)
    assert len(keys) == sum(map(len, SWEEPS.values())) - len(SWEEPS) + 1
    assert ("gcn", "beta 0.003") in {entry.row for entry in entries}
    assert {entry.column for entry in entries} == {"cora"}


def test_labels_have_a_column_for_each_number_and_no_validation():
    entries = labels_plan(("cora",), ("gcn",), runs=2)
    assert {entry.column for entry in entries} == {f"cora {number}" for number in LABELS}
    assert {entry.row for entry in entries} == {("gcn", "ncgc"), ("gcn", "plain"), ("", "label_spreading")}
    assert {entry.run.dataset.split for entry in entries} == {"few"}


def test_one_label_is_the_same_run_in_a_table_on_few_labels():
    table = {e.run.key for e in table_plan(("cora",), ("gcn",), "few")}
    assert table == {e.run.key for e in labels_plan(("cora",), ("gcn",), (1,), others=())}
