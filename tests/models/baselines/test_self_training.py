"""Self-training: how many nodes are added, which, and with which labels."""

import numpy as np
import pytest
import torch

from ncgc.models.baselines.self_training import SelfTraining, additions, expansion, most_confident
from ncgc.models.network_classifier import NetworkClassifier
from ncgc.training import LastEpoch


def slow_choice(probabilities, candidates, counts):
    taken, chosen = [0] * len(counts), []
    for node in sorted(candidates, key=lambda node: -probabilities[node].max()):
        c = int(probabilities[node].argmax())
        if taken[c] < counts[c]:
            taken[c] += 1
            chosen.append(node)
    return chosen


def test_the_surest_of_each_class_are_taken():
    found = torch.rand(60, 4, generator=torch.Generator().manual_seed(0)).softmax(dim=1)
    candidates, counts = torch.arange(10, 60), torch.tensor([3, 0, 40, 1])
    chosen = most_confident(found, candidates, counts)
    assert sorted(chosen.tolist()) == sorted(slow_choice(found.numpy(), candidates.tolist(), counts.tolist()))


def test_how_many_are_added(make_planted):
    graph, split = make_planted()
    data = SelfTraining().training_data(graph, split)
    degree = 2 * graph.num_edges / 45
    assert expansion(graph) == pytest.approx(45 / degree**2)
    assert additions(data, 12.0).tolist() == [int(12 * 45 / degree**2 / 3)] * 3
    assert additions(data, 1e-3).tolist() == [1, 1, 1]
    assert additions(data, 0.0).tolist() == [0, 0, 0]


def test_the_second_training_sees_the_labels_of_the_first(make_planted, monkeypatch):
    graph, split = make_planted()
    method = SelfTraining(epochs=15, reach=12.0)
    tasks, predictions = [], []

    original = NetworkClassifier.train

    def train(self, data, network, stopping, watch):
        tasks.append(data)
        ended = original(self, data, network, stopping, watch)
        predictions.append(network(data.operators, None).logits.argmax(dim=1))
        return ended

    monkeypatch.setattr(NetworkClassifier, "train", train)
    data = method.training_data(graph, split)
    method.train(data, method.network(data), LastEpoch(), None)
    first, second = tasks
    assert torch.equal(first.train, data.train)
    assert torch.equal(second.train[:9], data.train)
    assert torch.equal(second.labels[:9], data.labels)
    added = second.train[9:]
    assert len(added) > 0
    assert not torch.isin(added, data.train).any()
    assert torch.equal(second.labels[9:], predictions[0][added])


def test_both_trainings_are_in_the_history(make_planted):
    graph, split = make_planted("sparse")
    seen = []
    model = SelfTraining(epochs=30).fit(graph, split, watch=lambda epoch, quantities: seen.append(epoch))
    assert seen == list(range(1, 61))
    assert model.history_["epoch"].tolist() == seen
    assert model.history_["stage"].tolist() == [1] * 30 + [2] * 30
    assert model.best_epoch_ == 60
    assert model.score() > 0.5
    np.testing.assert_array_equal(SelfTraining(epochs=30).fit(graph, split).predict_proba(), model.predict_proba())


def test_validation_nodes_change_nothing(make_planted):
    with_them = SelfTraining(epochs=10).fit(*make_planted())
    without = SelfTraining(epochs=10).fit(*make_planted(validation=False))
    np.testing.assert_array_equal(with_them.predict_proba(), without.predict_proba())
