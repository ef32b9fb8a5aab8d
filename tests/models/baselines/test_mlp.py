"""The MLP of the features against its formula, and training on rows against training on all nodes."""

import numpy as np
import pytest
import torch
from scipy import sparse

from ncgc import Graph
from ncgc.models.network_classifier import NetworkClassifier
from ncgc.models.registry import find_classifier

MLP = find_classifier("mlp")


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_scores_are_the_formula(make_planted, form):
    graph, split = make_planted(form)
    model = MLP(hidden=5, epochs=4, features="raw").fit(graph, split)
    w = {name: value.detach().numpy() for name, value in model.network_.named_parameters()}
    x = graph.features.toarray() if sparse.issparse(graph.features) else graph.features
    h = np.maximum(x @ w["first"] + w["first_bias"], 0)
    np.testing.assert_allclose(model.decision_function(), h @ w["second"] + w["second_bias"], atol=1e-5)
    np.testing.assert_allclose(model.transform(), h, atol=1e-5)


def test_edges_do_not_matter(make_planted):
    graph, split = make_planted()
    other = Graph.from_edges([[0, 44], [3, 7]], graph.features, graph.labels)
    first, second = (MLP(epochs=5).fit(each, split).predict_proba() for each in (graph, other))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", ["mlp", "mlp_ppr"])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_rows_are_enough_to_train_on(make_planted, monkeypatch, name, form):
    graph, split = make_planted(form)
    kind = find_classifier(name)
    on_rows = kind(dropout=0.0, epochs=20).fit(graph, split)
    monkeypatch.setattr(kind, "train", NetworkClassifier.train)
    whole = kind(dropout=0.0, epochs=20).fit(graph, split)
    assert on_rows.best_epoch_ == whole.best_epoch_
    np.testing.assert_allclose(on_rows.predict_proba(), whole.predict_proba(), atol=1e-4)
    np.testing.assert_allclose(on_rows.history_["val_loss"], whole.history_["val_loss"], atol=1e-4)


def test_nothing_global_is_drawn_from(make_planted):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    MLP(epochs=2).fit(*make_planted())
    assert torch.equal(torch.get_rng_state(), before)
