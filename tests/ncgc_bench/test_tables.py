"""The tables of an experiment: our figures, the paper's beside them, pairs, and the sentences beneath."""

from __future__ import annotations

import pytest

from ncgc_bench.plans import ablation_plan, labels_plan, sweep_plan, table_plan
from ncgc_bench.published import published
from ncgc_bench.study import study_plan
from ncgc_bench.tables import Experiment, difference_table, main_table, notes, records


def lift(entry):
    """NCGC is a point above whatever else, splits scatter."""
    return 0.7 + 0.02 * entry.run.seed + 0.01 * (entry.variant == "ncgc")


def test_ours_and_the_papers_rows(store, fill):
    chosen = Experiment("table", "table", table_plan(("cora", "photo"), ("gcn",), runs=3))
    fill(chosen.entries, lift)
    table = main_table(chosen, store, "test_accuracy")
    assert table.head == ("backbone", "method", "cora", "photo", "mean")
    rows = {row[1]: row[2:] for row in table.rows}
    assert rows["ncgc"] == ("73.0 ± 2.0", "73.0 ± 2.0", "73.00")
    mean, deviation = published("main", "cora", "gcn", "plain") or (0, 0)
    assert rows["plain, paper"][0] == f"{mean:.1f} ± {deviation:.1f}"
    assert [row[1] for row in table.rows] == ["ncgc", "ncgc, paper", "plain", "plain, paper"]


@pytest.mark.parametrize(
    ("split", "quantity", "shown"),
    [("paper", "test_accuracy", True), ("random", "test_accuracy", False), ("paper", "seconds", False)],
)
def test_the_papers_figures_stand_beside_the_like_alone(store, fill, split, quantity, shown):
    chosen = Experiment("table", "table", table_plan(("cora",), ("gcn",), split, runs=2))
    fill(chosen.entries, lift)
    assert any("paper" in row[1] for row in main_table(chosen, store, quantity).rows) == shown


def test_the_ablation_stands_beside_the_papers_ablation(store):
    chosen = Experiment("ablation", "ablation", ablation_plan(("cora",), runs=1))
    rows = {row[1]: row[2] for row in main_table(chosen, store, "test_accuracy").rows}
    mean, _ = published("ablation", "cora", "gcn", "no KL") or (0, 0)
    assert rows["no KL, paper"].startswith(f"{mean:.1f}")
    assert rows["no KL"] == ""


def test_differences_are_paired(store, fill):
    chosen = Experiment(
        "table", "table", table_plan(("cora",), ("gcn",), "random", runs=4, others=("label_spreading",))
    )
    fill(chosen.entries, lift)
    table = difference_table(chosen, store, "test_accuracy")
    assert table is not None
    assert table.rows == (
        ("gcn", "ncgc − plain", "+1.0 [+1.0, +1.0]"),
        ("gcn", "ncgc − label_spreading", "+1.0 [+1.0, +1.0]"),
    )


def test_incomplete_cells_say_how_many(store, fill):
    chosen = Experiment("table", "table", table_plan(("cora",), ("gcn",), "random", runs=4))
    fill(chosen.entries, lambda e: lift(e) if e.run.seed < (3 if e.variant == "ncgc" else 2) else None)
    rows = {row[1]: row[2] for row in main_table(chosen, store, "test_accuracy").rows}
    assert rows == {"ncgc": "73.0 ± 2.0 (3/4)", "plain": "71.0 ± 1.4 (2/4)"}
    pairs = difference_table(chosen, store, "test_accuracy")
    assert pairs is not None
    assert pairs.rows[0][2] == "+1.0 [+1.0, +1.0] (2/4)"
    assert notes(chosen, store, "test_accuracy")[0] == "3 of 8 runs are missing."


def test_labels_have_a_column_for_each_number(store, fill):
    chosen = Experiment("labels", "labels", labels_plan(("cora",), ("gcn",), (1, 5), runs=2))
    fill(chosen.entries, lift)
    assert main_table(chosen, store, "test_accuracy").head == ("backbone", "method", "cora 1", "cora 5")
    pairs = difference_table(chosen, store, "test_accuracy")
    assert pairs is not None
    assert len(pairs.rows) == 2


def test_a_sweep_compares_nothing(store, fill):
    chosen = Experiment("sweep", "sweep", sweep_plan(("cora",), runs=2, sweeps={"beta": (0.001, 0.002)}))
    fill(chosen.entries, lift)
    assert difference_table(chosen, store, "test_accuracy") is None
    assert {row["value"] for row in records(chosen, store, "test_accuracy")} == {0.001, 0.002}


def test_a_study_is_compared_with_its_first_variant_and_says_the_time(store, fill, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        '[study]\ndatasets = ["digits"]\nlabels_per_class = [1, 2]\n[variants.a]\n[variants.b]\nhidden = 8\n'
    )
    chosen = Experiment("study", "study-s", study_plan(path))
    fill(chosen.entries, lambda e: 0.5 + 0.1 * (e.variant == "b"))
    table = main_table(chosen, store, "val_accuracy")
    assert table.head == ("variant", "digits 1", "digits 2", "mean", "s")
    assert table.rows[1] == ("b", "60.0 ± 0.0", "60.0 ± 0.0", "60.00", "4")
    pairs = difference_table(chosen, store, "val_accuracy")
    assert pairs is not None
    assert "'a'" in pairs.title
    assert pairs.rows == (("b", "+10.0 [+10.0, +10.0]", "+10.0 [+10.0, +10.0]"),)


def test_records_hold_the_same_figures_in_full(store, fill):
    chosen = Experiment("table", "table", table_plan(("cora", "photo"), ("gcn",), runs=3))
    fill(chosen.entries, lift)
    rows = records(chosen, store, "test_accuracy")
    assert {tuple(row) for row in rows} == {tuple(rows[0])}  # the same fields in all
    means = {(row["method"], row["dataset"]): row for row in rows if row["kind"] == "mean"}
    assert len(means) == 4
    assert means["ncgc", "cora"]["mean"] == pytest.approx(73.0)
    assert means["ncgc", "cora"]["paper_mean"] == published("main", "cora", "gcn", "ncgc")[0]
    (pair,) = [row for row in rows if row["kind"] == "difference" and row["dataset"] == "cora"]
    assert (pair["method"], pair["runs"], pair["planned"]) == ("ncgc - plain", 3, 3)
    assert pair["low"] == pytest.approx(1.0)


def test_notes_say_what_made_the_results(store, fill):
    chosen = Experiment("table", "table", table_plan(("cora", "photo"), ("gcn",), runs=2))
    assert notes(chosen, store, "test_accuracy")[0] == "8 of 8 runs are missing."
    fill(chosen.entries[:4], lift, revision="abc")
    fill(chosen.entries[4:7], lift, revision="def+")
    fill(chosen.entries[7:], lift, revision=None)
    said = notes(chosen, store, "test_accuracy")
    assert said[0] == "All 8 runs are there."
    assert "abc (4), def+ (3), unknown (1); + marks" in said[1]
    assert said[2].startswith("Intervals over few pairs are too short")
    assert said[3].startswith("On cora all runs share one split")
    many = Experiment("table", "table", table_plan(("photo",), ("gcn",), "random", runs=10))
    fill(many.entries, lift)
    assert len(notes(many, store, "test_accuracy")) == 2


def test_a_quantity_that_no_run_has_is_told(store, fill):
    chosen = Experiment("labels", "labels", labels_plan(("cora",), ("gcn",), (1,), runs=1))
    fill(chosen.entries, lift, val_accuracy=None)
    assert any("no validation nodes" in sentence for sentence in notes(chosen, store, "val_accuracy"))
