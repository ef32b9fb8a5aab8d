"""Methods trained on what labelled nodes depend on, against the same on the whole graph."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from ncgc import Graph
from ncgc.datasets import Split
from ncgc.models.network_classifier import NetworkClassifier
from ncgc.models.registry import BASELINES, find_classifier

SMALL = {"gat": {"hidden": 2, "heads": 3, "output_heads": 2}, "jknet": {"combine": "max", "num_layers": 3}}
WITH_DEPTH = sorted(
    name for name, kind in BASELINES.items() if issubclass(kind, NetworkClassifier) and kind().depth() is not None
)


def test_those_of_few_layers_have_a_depth():
    assert WITH_DEPTH == [
        "gat",
        "gat_star",
        "gcn",
        "gcn_star",
        "jknet",
        "m3s",
        "sage",
        "sage_star",
        "self_training",
        "violin",
    ]


def sparse_graph(form: str) -> tuple[Graph, Split]:
    """A long ring with a few chords, so that not everything is near everything; weighted, one node alone."""
    generator = np.random.default_rng(0)
    nodes = 60
    edges = [[i, (i + 1) % (nodes - 1)] for i in range(nodes - 1)] + [[3, 30], [10, 45], [45, 50]]
    features = generator.random((nodes, 9)) * (generator.random((nodes, 9)) < (0.04 if form == "sparse" else 0.9))
    features[:, 0] += 1.0 if form == "dense" else 0.0
    labels = np.arange(nodes) % 3
    weights = generator.random(len(edges)) + 0.5
    graph = Graph.from_edges(edges, features.astype(np.float32), labels=labels, weights=weights)
    return graph, Split(np.array([30, 4, 59, 11]), np.array([5, 20, 46]), np.array([0, 1]))


@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("name", WITH_DEPTH)
def test_loss_gradient_and_look_are_those_of_the_whole_graph(name, residual, form):
    kind = find_classifier(name)
    settings = {"hidden": 5, "dropout": 0.0, "features": "raw", **SMALL.get(name, {})}
    if "residual" in kind.PARAMETERS:
        settings |= {"residual": residual, "norm": "layer", "num_layers": 2 + residual}
    model = kind(**settings)
    graph, split = sparse_graph(form)
    data = model.training_data(graph, split)
    network = model.network(data)
    assert data.around_train.num_nodes < graph.num_nodes
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)))
    found = []
    for loss in (
        model.loss(data, network, 1),
        cross_entropy(network(data.operators, None).logits[data.train], data.labels),
    ):
        network.zero_grad()
        loss.backward()
        found.append([loss.detach(), *(weight.grad.clone() for weight in network.parameters())])
    for ours, oracle in zip(*found, strict=True):
        torch.testing.assert_close(ours, oracle, atol=1e-6, rtol=1e-4)
    with torch.no_grad():
        near, whole = network.eval()(data.around_watched, None), network(data.operators, None)
    torch.testing.assert_close(near.logits, whole.logits[split.val], atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(near.embeddings, whole.embeddings[split.val], atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", WITH_DEPTH)
def test_without_dropout_training_is_the_same_as_on_the_whole_graph(name, make_planted):
    graph, split = make_planted("dense")
    kind = find_classifier(name)

    class Whole(kind):
        def depth(self):
            return None

    settings = {"dropout": 0.0, "epochs": 12, "hidden": 6} | ({"heads": 2} if name == "gat" else {})
    near, whole = kind(**settings).fit(graph, split), Whole(**settings).fit(graph, split)
    assert near.best_epoch_ == whole.best_epoch_
    np.testing.assert_allclose(near.predict_proba(), whole.predict_proba(), atol=1e-4)


def test_a_batch_norm_needs_all_nodes():
    star = find_classifier("gcn_star")
    assert star(norm="batch").depth() is None
    assert star(norm="layer", num_layers=4).depth() == 4
