"""Violin: who is sure, whom he is linked with, and the graph that results."""

import numpy as np
import pytest
import torch
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import coalesce

from ncgc import Graph, Split
from ncgc.models.baselines.violin import Violin, _Estimate, sure_share, thirds, with_links
from ncgc.nn import GraphOperators


def test_a_third_of_every_class_is_held_out():
    labels = torch.tensor([0] * 7 + [1] * 2 + [2] * 3)
    kept, held = thirds(labels, torch.Generator().manual_seed(0))
    assert sorted(kept.tolist() + held.tolist()) == list(range(12))
    assert torch.bincount(labels[held], minlength=3).tolist() == [2, 0, 1]


def slow_share(confidence, predicted, nodes, labels, accuracy):
    rates = []
    for tenth in range(11):
        right = [
            predicted[node] == label
            for node, label in zip(nodes, labels, strict=True)
            if int(confidence[node] * 10) >= tenth
        ]
        rates.append(np.mean(right) if right else 0.0)
    enough = [tenth for tenth, rate in enumerate(rates) if rate > accuracy]
    lowest = enough[0] if enough else int(np.argmax(rates))
    return np.mean([int(value * 10) >= lowest for value in confidence])


@pytest.mark.parametrize("accuracy", [0.3, 0.6, 0.99])
def test_share_of_sure_nodes(accuracy):
    generator = torch.Generator().manual_seed(2)
    probabilities = (3 * torch.randn(50, 3, generator=generator)).softmax(dim=1)
    nodes, labels = torch.arange(0, 50, 3), torch.randint(3, (17,), generator=generator)
    confidence, predicted = probabilities.max(dim=1)
    expected = slow_share(confidence.numpy(), predicted.tolist(), nodes.tolist(), labels.tolist(), accuracy)
    assert sure_share(probabilities, nodes, labels, accuracy) == pytest.approx(expected)


def test_links_join_sure_nodes_with_nodes_of_the_same_class(make_planted):
    data = Violin().training_data(*make_planted())
    probabilities = torch.rand(45, 3, generator=torch.Generator().manual_seed(0)).softmax(dim=1)
    estimate = _Estimate(data, probabilities.clone(), 0.4)
    assert torch.equal(estimate.labels[data.train], data.labels)
    assert len(estimate.sure) == 18
    assert probabilities.amax(dim=1)[estimate.sure].min() >= probabilities.amax(dim=1).sort().values[-18]
    links = estimate.links(3, data.drops)
    assert 40 < links.shape[1] <= 54
    assert (links[0] != links[1]).all()
    assert torch.equal(estimate.labels[links[0]], estimate.labels[links[1]])
    assert torch.isin(links[1], estimate.sure).all()
    assert not torch.isin(links[0], estimate.sure).all()  # the other need not be sure


def test_the_linked_graph_is_that_of_pyg(make_planted):
    operators = GraphOperators(make_planted()[0])
    links = torch.stack([torch.randint(45, (30,)), torch.randint(45, (30,))])
    links = links[:, links[0] != links[1]]
    links = torch.cat([links, links[:, :5], operators.edge_index[:, :5]], dim=1)  # twice, and there already
    found = with_links(operators, links)
    both = coalesce(torch.cat([operators.edge_index, links, links.flip(0)], dim=1))
    index, weight = gcn_norm(both, None, 45)
    expected = torch.zeros(45, 45)
    expected[index[0], index[1]] = weight
    torch.testing.assert_close(found.gcn.csr.to_dense(), expected)
    assert found.features is operators.features
    assert found.gcn is not operators.gcn


def test_links_have_the_mean_weight():
    graph = Graph.from_edges([[0, 1], [2, 3]], np.eye(4), weights=[1.0, 5.0])
    found = with_links(GraphOperators(graph), torch.tensor([[0, 0], [2, 1]])).gcn.csr.to_dense()
    looped = np.array([[1, 1, 3, 0], [1, 1, 0, 0], [3, 0, 1, 5], [0, 0, 5, 1.0]])
    scale = looped.sum(axis=1) ** -0.5
    np.testing.assert_allclose(found, looped * scale[:, None] * scale, rtol=1e-6)


def test_loss_is_that_of_the_formula(make_planted):
    method = Violin(dropout=0.0, classify="both")
    data = method.training_data(*make_planted())
    network = method.network(data)
    links = torch.tensor([[9, 10], [20, 30]])
    plain, linked = network(data.operators).logits, network(with_links(data.operators, links)).logits
    p, q = plain.softmax(dim=1), linked.softmax(dim=1)
    parts = method._loss(data, network, links)
    logs = plain.log_softmax(dim=1) + linked.log_softmax(dim=1)
    torch.testing.assert_close(parts["class"], -logs[data.train, data.labels].mean() / 2)
    torch.testing.assert_close(parts["consistency"], 0.8 * (p - q)[9:].abs().sum() / 36)
    torch.testing.assert_close(parts["agreement"], 0.6 * ((q[9] - q[20]).abs().sum() + (q[10] - q[30]).abs().sum()) / 2)


@pytest.mark.parametrize("links", [torch.zeros(2, 0, dtype=torch.long), torch.tensor([[0], [1]])])
def test_no_links_and_no_edges_are_no_trouble(links):
    graph = Graph.from_edges([], np.eye(4), labels=[0, 1, -1, -1])
    method = Violin()
    data = method.training_data(graph, Split([0, 1], [], []))
    parts = method._loss(data, method.network(data), links)
    assert all(torch.isfinite(part) for part in parts.values())


def test_few_labels_leave_out_the_training_for_the_threshold(make_planted):
    graph, split = make_planted("sparse")  # 3 a class: 3 held out
    model = Violin(epochs=40).fit(graph, split)
    assert set(model.history_["stage"]) == {1, 2}
    assert model.score() > 0.5
    np.testing.assert_array_equal(Violin(epochs=40).fit(graph, split).predict_proba(), model.predict_proba())


def test_enough_labels_take_three_trainings(make_planted):
    graph, _ = make_planted("sparse")
    model = Violin(epochs=20).fit(graph, Split(np.arange(36), np.arange(36, 40), np.arange(40, 45)))
    assert model.history_["stage"].tolist() == np.repeat([1, 2, 3], 20).tolist()
    assert 41 <= model.best_epoch_ <= 60
