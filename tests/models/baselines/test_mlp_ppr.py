"""The MLP on smoothed features against the sum over all steps."""

import numpy as np
import pytest
from scipy import sparse

from ncgc import Graph
from ncgc.models.registry import find_classifier
from ncgc.ops import gcn_normalised

MLPOnPageRank = find_classifier("mlp_ppr")


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_scores_are_an_mlp_of_the_smoothed_features(make_planted, form):
    graph, split = make_planted(form)
    model = MLPOnPageRank(hidden=6, steps=4, alpha=0.3, epochs=5, features="raw").fit(graph, split)
    a = gcn_normalised(graph.adjacency).toarray()
    x = graph.features.toarray() if sparse.issparse(graph.features) else graph.features
    smooth = sum(0.3 * 0.7**k * np.linalg.matrix_power(a, k) @ x for k in range(4))
    smooth = smooth + 0.7**4 * np.linalg.matrix_power(a, 4) @ x
    smooth = smooth / np.linalg.norm(smooth[split.train], axis=1).mean()
    w = {name: value.detach().numpy() for name, value in model.network_.named_parameters()}
    h = np.maximum(smooth @ w["first"] + w["first_bias"], 0)
    np.testing.assert_allclose(model.transform(), h, atol=1e-4)
    np.testing.assert_allclose(model.decision_function(), h @ w["second"] + w["second_bias"], atol=1e-4)


def test_features_without_any_length_do_no_harm(make_planted):
    graph, split = make_planted()
    graph = Graph.from_edges([[0, 1]], np.zeros((45, 2)), graph.labels)
    assert np.isfinite(MLPOnPageRank(steps=0, epochs=3).fit(graph, split).predict_proba()).all()


def test_epoch_is_chosen_on_the_validation_rows(make_planted):
    graph, split = make_planted()
    model = MLPOnPageRank(epochs=30).fit(graph, split)
    assert model.best_epoch_ == 1 + int(np.argmin(model.history_["val_loss"]))
    accuracy = model.history_["val_accuracy"][model.best_epoch_ - 1]
    assert model.score(nodes=split.val) == pytest.approx(accuracy)
