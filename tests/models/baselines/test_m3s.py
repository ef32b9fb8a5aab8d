"""M3S: clusters get classes, and only nodes whose cluster agrees are added."""

import numpy as np
import pytest
import torch

from ncgc.models.baselines import m3s
from ncgc.models.baselines.m3s import M3S, aligned_clusters


def test_clusters_are_of_the_nearest_class():
    generator = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [0.0, 4.0], [9.0, 0.0]])  # two near clusters of class 0, one of class 2
    points = torch.from_numpy(np.repeat(centres, 20, axis=0) + generator.normal(scale=0.2, size=(60, 2))).float()
    found = aligned_clusters(points, torch.tensor([0, 59]), torch.tensor([0, 2]), 3, seed=1)
    assert found.tolist() == [0] * 40 + [2] * 20


def test_no_more_clusters_than_nodes_and_a_large_seed():
    points = torch.eye(4)
    found = aligned_clusters(points, torch.arange(4), torch.tensor([0, 1, 1, 0]), 200, seed=2**32 + 5)
    assert found.tolist() == [0, 1, 1, 0]


@pytest.mark.filterwarnings("error")
def test_nodes_that_are_all_the_same_are_no_trouble():
    found = aligned_clusters(torch.ones(6, 2), torch.arange(2), torch.tensor([1, 1]), 3, seed=0)
    assert found.tolist() == [1] * 6


def test_only_agreeing_nodes_are_added(make_planted, monkeypatch):
    graph, split = make_planted()
    method = M3S(epochs=10, reach=12.0)
    data = method.training_data(graph, split)
    network = method.network(data).eval()
    predicted = network(data.operators, None).logits.argmax(dim=1)
    opinion = torch.where(torch.arange(45) % 2 == 0, predicted, (predicted + 1) % 3)
    monkeypatch.setattr(m3s, "aligned_clusters", lambda *_: opinion)
    added = method._more(data, network, torch.tensor([4, 4, 4])).train[9:]
    assert len(added) > 0
    assert (added % 2 == 0).all()
    assert not torch.isin(added, data.train).any()


def test_labels_grow_from_stage_to_stage(make_planted):
    graph, split = make_planted("sparse")
    settings = {"epochs": 20, "stages": 3, "clusters": 9, "reach": 12.0}
    model = M3S(**settings).fit(graph, split)
    assert model.history_["stage"].tolist() == np.repeat([1, 2, 3, 4], 20).tolist()
    assert model.score() > 0.5
    np.testing.assert_array_equal(M3S(**settings).fit(graph, split).predict_proba(), model.predict_proba())
