"""A GCN on a receptive field against the same on the whole graph."""

import pytest
import torch

from ncgc.models.networks import TwoLayerGCN
from ncgc.models.receptive_field import receptive_field
from ncgc.nn import GraphOperators


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_logits_and_gradients_are_those_of_the_whole_graph(make_planted, form):
    graph, _ = make_planted(form)
    operators = GraphOperators(graph)
    network = TwoLayerGCN(graph.num_features, 5, 3, 0.0, bias=True, generator=torch.Generator().manual_seed(0))
    nodes = torch.tensor([44, 3, 17, 3])
    field = receptive_field(operators, nodes)
    assert field.features.shape[0] <= graph.num_nodes
    upstream = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    found = {}
    for name, logits in (("field", network.at(field)), ("whole", network(operators).logits[nodes])):
        network.zero_grad()
        (logits * upstream).sum().backward()
        found[name] = [logits.detach(), *(weight.grad.clone() for weight in network.parameters())]
    for ours, oracle in zip(found["field"], found["whole"], strict=True):
        torch.testing.assert_close(ours, oracle)


def test_dropout_has_the_right_mean(make_planted):
    graph, _ = make_planted("sparse")
    operators = GraphOperators(graph)
    network = TwoLayerGCN(graph.num_features, 5, 3, 0.0, input_dropout=0.5, generator=torch.Generator().manual_seed(0))
    field = receptive_field(operators, torch.tensor([5, 30]))
    draws = [
        field.features.dropout(0.5, torch.Generator().manual_seed(seed)).linear(network.first) for seed in range(600)
    ]
    torch.testing.assert_close(torch.stack(draws).mean(dim=0), field.features.linear(network.first), atol=0.25, rtol=0)


def test_it_is_small_where_the_graph_is_long():
    from ncgc import Graph

    path = Graph.from_edges([[i, i + 1] for i in range(99)], torch.eye(100).numpy())
    field = receptive_field(GraphOperators(path), torch.tensor([50, 51]))
    assert (field.outer.shape, field.inner.shape, field.features.shape) == ((2, 4), (4, 6), (6, 100))
    rows = field.features.to_dense()
    assert rows.argmax(dim=1).tolist() == [48, 49, 50, 51, 52, 53]
