"""Every method with a stock form: the form trains as the method does, and both are clocked."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ncgc import load_dataset
from ncgc.datasets import few_split
from ncgc.models.registry import BASELINES, find_classifier
from ncgc_bench.speed.epochs import main, table
from ncgc_bench.speed.methods import NETWORKS, measure_method, speed_table
from ncgc_bench.speed.pyg_reference_forms import stock_form

SMALL = {
    "gcnii": {"num_layers": 4},
    "grand": {"order": 2, "input_dropout": 0.2, "node_dropout": 0.2, "consistency": 0.0},
    **{name: {"hidden": 32} for name in ("gcn_star", "gat_star", "sage_star")},
}


def test_every_method_that_learns_with_a_network_has_a_form():
    learning = {name for name, kind in BASELINES.items() if "epochs" in kind.PARAMETERS}
    assert learning == set(NETWORKS)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_the_form_learns_what_the_method_learns(name):
    graph = load_dataset("digits")
    split = few_split(graph, 10, seed=0)
    settings = {"epochs": 80, "random_state": 0, "learning_rate": 0.05, "weight_decay": 0.0, **SMALL.get(name, {})}
    if "dropout" in find_classifier(name).PARAMETERS:
        settings["dropout"] = 0.2
    ours = find_classifier(name)(**settings).fit(graph, split)
    with torch.random.fork_rng():
        torch.manual_seed(0)  # stock layers draw from the global generator
        stock = stock_form(name)(**settings).fit(graph, split)
    assert len(stock.history_) == len(ours.history_)
    # other first weights and other dropout, so the two agree on the whole and not node by node
    assert min(stock.score(), ours.score()) > 0.7


def test_both_forms_are_clocked():
    row = measure_method("gcn", load_dataset("digits"), rounds=1, epochs=4)
    assert row["ours_ms"] > 0
    assert row["over_stock"] == pytest.approx(row["stock_ms"] / row["ours_ms"])
    assert speed_table([row]).rows[0][0] == "GCN"
    assert table([row]).startswith("**Milliseconds")


def test_the_first_epoch_does_not_count():
    from ncgc_bench.speed.methods import epoch_seconds

    assert epoch_seconds(np.array([9.0, 9.5])) == [0.5]


def test_the_command_prints_the_table(capsys, monkeypatch):
    import ncgc_bench.speed.methods as module

    monkeypatch.setattr(module, "NETWORKS", {"sgc": module.NETWORKS["sgc"]})
    assert main(["digits", "--methods", "--rounds", "1"]) == 0
    assert "| SGC |" in capsys.readouterr().out
