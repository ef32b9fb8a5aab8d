"""DAGNN against loops over nodes and steps, and its rule to stop."""

import numpy as np

from ncgc.models.registry import find_classifier
from ncgc.ops import gcn_normalised
from ncgc.training import LastEpoch

DAGNN = find_classifier("dagnn")


def test_scores_and_embeddings_are_gated_sums_of_the_steps(make_planted):
    graph, split = make_planted()
    model = DAGNN(hidden=6, steps=3, epochs=5, features="raw").fit(graph, split)
    w = {name: value.detach().numpy() for name, value in model.network_.named_parameters()}
    a = gcn_normalised(graph.adjacency).toarray()
    h = np.maximum(graph.features @ w["first"] + w["first_bias"], 0)
    z = h @ w["second"] + w["second_bias"]
    scores, embeddings = np.zeros_like(z), np.zeros_like(h)
    for k in range(4):
        power = np.linalg.matrix_power(a, k)
        for i, row in enumerate(power @ z):
            gate = 1 / (1 + np.exp(-(row @ w["gate"][:, 0] + w["gate_bias"][0])))
            scores[i] += gate * row
            embeddings[i] += gate * (power @ h)[i]
    np.testing.assert_allclose(model.decision_function(), scores, atol=1e-5)
    np.testing.assert_allclose(model.transform(), embeddings, atol=1e-5)


def test_stops_by_a_window_in_the_second_half(make_planted):
    graph, split = make_planted()
    stopping = DAGNN(epochs=300, window=20).stopping_rule(graph, split)
    assert (stopping.window, stopping.window_after, stopping.patience) == (20, 150, None)
    assert isinstance(DAGNN().stopping_rule(*make_planted(validation=False)), LastEpoch)
