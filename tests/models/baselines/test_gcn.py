"""GCN against PyG's layers with the same weights, and what of it decays."""

import torch
from torch_geometric.nn import GCNConv

from ncgc.models.baselines.gcn import GCN


def test_the_network_is_two_of_pygs_layers(make_planted):
    graph, split = make_planted("sparse")
    method = GCN(hidden=5)
    data = method.training_data(graph, split)
    network = method.network(data).eval()
    first, second = GCNConv(7, 5, bias=False), GCNConv(5, 3, bias=False)
    first.lin.weight.data = network.first.data.t().clone()
    second.lin.weight.data = network.second.data.t().clone()
    x, edges = data.operators.features.to_dense(), data.operators.edge_index
    weights = data.operators.edge_weight
    hidden = torch.relu(first(x, edges, weights))
    output = network(data.operators)
    torch.testing.assert_close(output.embeddings, hidden)
    torch.testing.assert_close(output.logits, second(hidden, edges, weights))


def test_the_first_matrix_alone_decays(make_planted):
    method = GCN(weight_decay=0.25)
    network = method.network(method.training_data(*make_planted()))
    decaying, free = method.groups(network)
    assert decaying["weight_decay"] == 0.25
    assert [id(one) for one in decaying["params"]] == [id(network.first)]
    assert free["weight_decay"] == 0.0
    assert [id(one) for one in free["params"]] == [id(network.second)]


def test_it_stops_when_the_validation_loss_rises_and_keeps_the_last_weights(make_planted):
    model = GCN(learning_rate=0.5, epochs=200).fit(*make_planted("dense"))
    assert model.termination_ == "the validation loss rises"
    assert model.best_epoch_ == len(model.history_) < 200
