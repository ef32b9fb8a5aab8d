"""Label spreading against its closed form and scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.semi_supervised import LabelSpreading as Reference

from ncgc import Graph, Split
from ncgc.errors import ParameterError
from ncgc.models.baselines.label_spreading import LabelSpreading


def random_graph(weighted: bool) -> Graph:
    generator = np.random.default_rng(0)
    edges = generator.integers(0, 40, size=(90, 2))
    weights = generator.uniform(0.1, 2, size=90) if weighted else None
    return Graph.from_edges(edges, np.eye(40), generator.integers(0, 3, 40), weights=weights, classes=["a", "b", "c"])


def reached(graph: Graph, split: Split) -> np.ndarray:
    near = (graph.adjacency.toarray() > 0).astype(float) + np.eye(graph.num_nodes)
    return np.linalg.matrix_power(near, graph.num_nodes)[:, split.train].sum(axis=1) > 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.9, 0.99])
def test_tends_to_the_closed_form(weighted, alpha):
    graph = random_graph(weighted)
    split = Split([0, 1, 2, 3, 4, 5], [], [10, 11, 12])
    adjacency = graph.adjacency.toarray().astype(float)
    degrees = adjacency.sum(axis=1)
    scale = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0)
    spread = scale[:, None] * adjacency * scale
    labels = split.training_labels(graph)
    given = (labels[:, None] == np.arange(3)).astype(float)
    scores = (1 - alpha) * np.linalg.solve(np.eye(40) - alpha * spread, given)
    model = LabelSpreading(alpha=alpha, iterations=10000, tolerance=1e-14).fit(graph, split)
    known = scores.sum(axis=1) > 1e-12
    expected = scores[known] / scores[known].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba()[known], expected, atol=1e-9)


def test_agrees_with_scikit_learn():
    graph = random_graph(weighted=True)
    split = Split([0, 1, 2, 3, 4, 5], [], [10, 11, 12])
    dense = graph.adjacency.toarray().astype(float)
    keep = reached(graph, split) & (dense.sum(axis=1) > 0)
    model = LabelSpreading(alpha=0.8, tolerance=1e-12).fit(graph, split)
    reference = Reference(kernel=lambda *_: dense + 1e-300, alpha=0.8, max_iter=5000, tol=1e-12)
    reference.fit(np.zeros((40, 1)), split.training_labels(graph))
    np.testing.assert_allclose(model.predict_proba()[keep], reference.label_distributions_[keep], atol=1e-6)


def test_stops_at_the_tolerance_or_the_last_iteration():
    graph, split = random_graph(False), Split([0, 1, 2, 3, 4, 5], [], [])
    assert LabelSpreading(iterations=3).fit(graph, split).n_iter_ == 3
    assert 3 < LabelSpreading(tolerance=1e-3).fit(graph, split).n_iter_ < LabelSpreading().fit(graph, split).n_iter_


@pytest.mark.parametrize(("name", "value"), [("alpha", 1.0), ("alpha", -0.1), ("iterations", 0), ("tolerance", -1.0)])
def test_bad_parameters_in_the_one_form(name, value):
    model = LabelSpreading(**{name: value})
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of LabelSpreading must be"):
        model.fit(random_graph(False), Split([0, 1, 2, 3, 4, 5], [], []))
