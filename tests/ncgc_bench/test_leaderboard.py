"""The leaderboard: order, means of complete rows alone, wins and losses by the interval, the authors' figures beside ours."""

from __future__ import annotations

import pytest

from ncgc_bench.leaderboard import beside_authors, ranking, standings
from ncgc_bench.plans import leaderboard_plan
from ncgc_bench.summary import bootstrap_interval
from ncgc_bench.tables import Experiment

LEVEL = {"ncgc": 0.80, "gcn": 0.70, "appnp": 0.85, "sgc": 0.80}


def accuracy(entry):
    """A level a method, the same scatter for all; SGC swings around NCGC's level from split to split."""
    swing = 0.03 * (-1) ** entry.run.seed if entry.variant == "sgc" else 0.0
    return LEVEL[entry.variant] + 0.01 * entry.run.seed + swing


@pytest.fixture
def board():
    def board(split="random", datasets=("cora", "citeseer"), others=("gcn", "appnp", "sgc")):
        plan = leaderboard_plan(datasets, ("gcn",), split, 4, others=others)
        return Experiment("leaderboard", "leaderboard", plan)

    return board


def test_the_best_comes_first_with_seconds_and_memory(store, fill, board):
    chosen = board()
    fill(chosen.entries, accuracy)
    table = ranking(chosen, store)
    assert table.head == ("method", "cora", "citeseer", "mean", "s", "MiB")
    assert [row[0] for row in table.rows] == ["APPNP", "NCGC (GCN)", "SGC", "GCN"]
    assert table.rows[0] == ("APPNP", "86.5 ± 1.3", "86.5 ± 1.3", "86.5", "2.0", "300")


def test_a_method_with_runs_to_come_has_no_mean_and_stands_where_its_cells_are(store, fill, board):
    """Cora is the easier one by 30 points: it must not push down a method that was run on the other alone."""
    chosen = board()

    def filled(entry):
        if entry.variant == "appnp" and entry.dataset == "cora":
            return None
        return accuracy(entry) - (0.3 if entry.dataset == "citeseer" else 0.0)

    fill(chosen.entries, filled)
    rows = ranking(chosen, store).rows
    assert [row[0] for row in rows] == ["APPNP", "NCGC (GCN)", "SGC", "GCN"]
    assert rows[0][1:4] == ("", "56.5 ± 1.3", "")


def test_a_method_without_any_run_is_left_out(store, fill, board):
    chosen = board()
    fill(chosen.entries, lambda e: None if e.variant == "sgc" else accuracy(e))
    assert "SGC" not in [row[0] for row in ranking(chosen, store).rows]
    assert "SGC" not in [row[0] for row in standings(chosen, store).rows]


def test_wins_and_losses_are_those_whose_interval_leaves_zero(store, fill, board):
    chosen = board()
    fill(chosen.entries, accuracy)
    table = standings(chosen, store)
    counts = {row[0]: row[-3:] for row in table.rows}
    assert counts == {"APPNP": ("0", "2", "0"), "SGC": ("0", "0", "2"), "GCN": ("2", "0", "0")}
    assert [row[0] for row in table.rows] == ["APPNP", "SGC", "GCN"]  # the one furthest ahead of NCGC first
    assert table.rows[0][1] == "−5.0 [−5.0, −5.0]"


def test_a_lead_that_five_pairs_cannot_prove_stays_open(store, fill):
    """Leads of 0.2, 0.2, 0.3, 1.8 and 3.0: the bootstrap of five would call it a win, Student's interval does not."""
    leads = (0.002, 0.002, 0.003, 0.018, 0.030)
    plan = leaderboard_plan(("cora",), ("gcn",), "random", 5, others=("sgc",))
    chosen = Experiment("leaderboard", "leaderboard", plan)
    fill(chosen.entries, lambda e: 0.8 + (leads[e.run.seed] if e.variant == "ncgc" else 0.0))
    assert bootstrap_interval(leads)[0] > 0
    assert standings(chosen, store).rows == (("SGC", "+1.1 [−0.5, +2.7]", "0", "0", "1"),)


def test_without_ncgc_nothing_is_compared(store, fill):
    plan = leaderboard_plan(("cora",), (), "random", 2, others=("gcn",))
    chosen = Experiment("leaderboard", "leaderboard", plan)
    fill(chosen.entries, accuracy)
    assert standings(chosen, store) is None


def test_the_authors_own_figures_stand_beside_ours_on_their_split_alone(store, fill, board):
    chosen = board("public")
    fill(chosen.entries, accuracy)
    rows = {row[0]: row[1:] for row in beside_authors(chosen, store).rows}
    assert rows["APPNP"] == ("86.5 / 83.3 (+3.2)", "86.5 / 71.8 (+14.7)")
    assert "NCGC (GCN)" not in rows
    other = board("random")
    fill(other.entries, accuracy)
    assert beside_authors(other, store) is None


def test_all_methods_and_five_seeds_unless_told():
    from ncgc.models.registry import BASELINES

    plan = leaderboard_plan(("cora",))
    assert {entry.variant for entry in plan} == {"ncgc", *BASELINES}
    assert {entry.run.seed for entry in plan} == set(range(5))
    assert plan[0].backbone == "appnp"
