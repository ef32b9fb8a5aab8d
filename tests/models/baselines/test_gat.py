"""GAT against PyG's layers with the same weights, and its scores against a loop."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GATConv

from ncgc.models.baselines.gat import Attention, GATNetwork
from ncgc.models.registry import find_classifier
from ncgc.nn import GraphOperators

GAT = find_classifier("gat")


def same(ours: Attention, in_features: int, columns: int, concat: bool) -> GATConv:
    theirs = GATConv(in_features, columns, heads=ours.heads, concat=concat)
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.weight.t())
        theirs.att_src.copy_(ours.source.t().unsqueeze(0))
        theirs.att_dst.copy_(ours.target.t().unsqueeze(0))
        theirs.bias.copy_(ours.bias if concat else ours.bias.view(ours.heads, -1).mean(dim=0))
    return theirs


@pytest.mark.parametrize("output_heads", [1, 4])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_scores_are_those_of_pyg(make_planted, form, output_heads):
    graph, split = make_planted(form)
    settings = {"hidden": 4, "heads": 3, "output_heads": output_heads, "epochs": 4, "features": "raw"}
    model = GAT(**settings).fit(graph, split)
    operators, network = GraphOperators(graph), model.network_.eval()
    with torch.no_grad():
        for layer in (network.first, network.second):  # PyG's scores have no bias
            layer.source_bias.zero_()
            layer.target_bias.zero_()
        found = network(operators)
        x = operators.features.to_dense()
        h = torch.nn.functional.elu(same(network.first, graph.num_features, 4, True)(x, operators.edge_index))
        expected = same(network.second, 12, 3, False)(h, operators.edge_index)
    np.testing.assert_allclose(found.embeddings.numpy(), h.numpy(), atol=1e-5)
    np.testing.assert_allclose(found.logits.numpy(), expected.numpy(), atol=1e-5)


def test_biases_of_the_scores_against_a_loop(make_planted):
    graph, _ = make_planted("dense")
    operators = GraphOperators(graph)
    layer = Attention(graph.num_features, 2, 1, 0.0, torch.Generator().manual_seed(0)).eval()
    x = operators.features.to_dense()
    with torch.no_grad():
        layer.source_bias.fill_(0.3)
        layer.target_bias.fill_(-1.1)
        z = x @ layer.weight
        found = layer(x, operators)
        unbiased = z @ layer.target + (z @ layer.source).t()
        source, target = operators.edge_index
        for i in (0, 7, 30):
            j = torch.cat([source[target == i], torch.tensor([i])]).unique()
            scores = torch.nn.functional.leaky_relu(unbiased[i, j] + 0.3 - 1.1, 0.2)
            torch.testing.assert_close(found[i], scores.softmax(dim=0) @ z[j])


def test_each_head_drops_inputs_of_its_own(make_planted):
    graph, _ = make_planted("dense")
    operators = GraphOperators(graph)
    layer = Attention(graph.num_features, 3, 2, 0.5, torch.Generator().manual_seed(0)).train()
    with torch.no_grad():
        layer.weight[:, 3:] = layer.weight[:, :3]
    x = operators.features.to_dense()
    for inputs in (x, operators.features):
        first, second = layer._products(inputs, 0.5, torch.Generator().manual_seed(1)).split(3, dim=1)
        assert not torch.allclose(first, second)
        whole = torch.stack([layer._products(inputs, 0.5, torch.Generator().manual_seed(s)) for s in range(400)])
        torch.testing.assert_close(whole.mean(dim=0)[:, :3], x @ layer.weight[:, :3], atol=0.35, rtol=0)


def test_each_head_begins_as_a_layer_of_its_own():
    network = GATNetwork(30, 2, 3, 0.6, heads=8, generator=torch.Generator().manual_seed(0))
    bound = (6 / 32) ** 0.5
    assert 0.9 * bound < network.first.weight.abs().max() <= bound
    assert network.first.weight.shape == (30, 16)
    assert network.first.source.shape == (2, 8)


def test_what_is_dropped_comes_from_the_generator(make_planted):
    graph, _ = make_planted()
    operators = GraphOperators(graph)
    network = GATNetwork(graph.num_features, 2, 3, 0.6, generator=torch.Generator().manual_seed(0)).train()
    first, again, other = (
        network(operators, torch.Generator().manual_seed(seed)).logits.detach() for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("stopping", ["both", "accuracy", "loss"])
def test_kept_is_the_epoch_that_stopping_names(make_planted, stopping):
    graph, split = make_planted("sparse")
    model = GAT(hidden=4, heads=2, epochs=40, patience=None, learning_rate=0.05, stopping=stopping).fit(graph, split)
    accuracy, loss = (np.array([row[name] for row in model.history_.rows]) for name in ("val_accuracy", "val_loss"))
    most, least = np.maximum.accumulate(accuracy), np.minimum.accumulate(loss)
    kept = {"both": (accuracy == most) & (loss == least), "accuracy": accuracy == most, "loss": loss == least}[stopping]
    assert model.best_epoch_ == np.flatnonzero(kept)[-1] + 1


def test_accuracy_alone_does_not_wait_for_the_loss(make_planted):
    graph, split = make_planted("sparse")
    settings = {"hidden": 4, "heads": 2, "epochs": 400, "patience": 5, "learning_rate": 0.001}
    ended = {rule: len(GAT(stopping=rule, **settings).fit(graph, split).history_) for rule in ("both", "accuracy")}
    assert ended["accuracy"] < ended["both"]  # the loss of so small a step goes on falling
