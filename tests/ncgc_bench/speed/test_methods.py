"""Every method with a network has a PyG reference that trains as the method does, and both are timed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ncgc import load_dataset
from ncgc.datasets import few_split
from ncgc.models.registry import BASELINES, find_classifier
from ncgc_bench.speed.command import main
from ncgc_bench.speed.methods import NETWORKS, epoch_seconds, measure_method, pyg_reference
from ncgc_bench.speed.tables import as_table, method_table

SMALL = {
    "gcnii": {"num_layers": 4},
    "grand": {"order": 2, "input_dropout": 0.2, "node_dropout": 0.2, "consistency": 0.0},
    **{name: {"hidden": 32} for name in ("gcn_star", "gat_star", "sage_star")},
}


def test_every_method_that_trains_a_network_has_a_reference():
    learning = {name for name, kind in BASELINES.items() if "epochs" in kind.PARAMETERS}
    assert learning == set(NETWORKS)


@pytest.mark.parametrize("name", list(NETWORKS))
def test_the_reference_learns_what_the_method_learns(name):
    graph = load_dataset("digits")
    split = few_split(graph, 10, seed=0)
    settings = {"epochs": 80, "random_state": 0, "learning_rate": 0.05, "weight_decay": 0.0, **SMALL.get(name, {})}
    if "dropout" in find_classifier(name).PARAMETERS:
        settings["dropout"] = 0.2
    ours = find_classifier(name)(**settings).fit(graph, split)
    with torch.random.fork_rng():
        torch.manual_seed(0)  # PyG layers draw from the global generator
        reference = pyg_reference(name)(**settings).fit(graph, split)
    assert len(reference.history_) == len(ours.history_)
    # other first weights and other dropout, so the two agree on the whole and not node by node
    assert min(reference.score(), ours.score()) > 0.7


def test_both_are_timed():
    row = measure_method("gcn", load_dataset("digits"), rounds=1, epochs=4)
    assert row["ours_ms"] > 0
    assert row["over_stock"] == pytest.approx(row["stock_ms"] / row["ours_ms"])
    assert method_table([row]).rows[0][0] == "GCN"
    assert as_table([row]).startswith("**Milliseconds")


def test_the_first_epoch_does_not_count():
    assert epoch_seconds(np.array([9.0, 9.5])) == [0.5]


def test_the_command_prints_the_table(capsys, monkeypatch):
    import ncgc_bench.speed.command as module

    monkeypatch.setattr(module, "NETWORKS", {"sgc": module.NETWORKS["sgc"]})
    assert main(["digits", "--methods", "--rounds", "1"]) == 0
    assert "| SGC |" in capsys.readouterr().out
