"""Label propagation against the harmonic function in closed form."""

import numpy as np
import pytest

from ncgc import Graph, Split
from ncgc.models.registry import find_classifier

LabelPropagation = find_classifier("label_propagation")
SPLIT = Split([0, 1, 2, 3, 4, 5], [], [10, 11, 12])


def random_graph(weighted: bool) -> Graph:
    generator = np.random.default_rng(0)
    edges = generator.integers(0, 40, size=(90, 2))
    weights = generator.uniform(0.1, 2, size=90) if weighted else None
    labels = np.r_[0, 1, 2, 0, 1, 2, generator.integers(0, 3, 34)]
    return Graph.from_edges(edges, np.eye(40), labels, weights=weights, classes=["a", "b", "c"])


def harmonic(graph: Graph, split: Split) -> np.ndarray:
    a = graph.adjacency.toarray().astype(float)
    laplacian = np.diag(a.sum(axis=1)) - a
    free = np.setdiff1d(np.arange(graph.num_nodes), split.train)
    scores = np.zeros((graph.num_nodes, 3))
    scores[split.train, graph.labels[split.train]] = 1
    inside = np.linalg.pinv(laplacian[np.ix_(free, free)])
    scores[free] = inside @ a[np.ix_(free, split.train)] @ scores[split.train]
    return scores


@pytest.mark.parametrize("weighted", [False, True])
def test_tends_to_the_harmonic_function(weighted):
    graph = random_graph(weighted)
    model = LabelPropagation(balanced=False, iterations=20000, tolerance=1e-14).fit(graph, SPLIT)
    scores = harmonic(graph, SPLIT)
    reached = scores.sum(axis=1) > 1e-9
    np.testing.assert_allclose(model.predict_proba()[reached], scores[reached], atol=1e-8)


def test_balanced_classes_have_the_mass_of_the_training_shares():
    graph = random_graph(True)
    split = Split([0, 1, 2, 3], [], [10])  # half of them of class a
    labels = split.training_labels(graph)
    scores = LabelPropagation()._spread(graph, labels)
    mass = scores[labels < 0].sum(axis=0)
    np.testing.assert_allclose(mass / mass.sum(), [0.5, 0.25, 0.25])
    np.testing.assert_array_equal(scores[split.train].argmax(axis=1), graph.labels[split.train])


def test_a_class_that_reaches_nobody_and_nodes_that_nobody_reaches():
    graph = Graph.from_edges([[0, 1]], np.eye(4), [0, -1, 1, -1])  # 2 and 3 are isolated
    probabilities = LabelPropagation().fit(graph).predict_proba()
    np.testing.assert_allclose(probabilities, [[1, 0], [1, 0], [0, 1], [0.5, 0.5]], atol=1e-9)


def test_stops_at_the_tolerance_or_the_last_iteration():
    graph = random_graph(False)
    assert LabelPropagation(iterations=3).fit(graph, SPLIT).n_iter_ == 3
    assert 3 < LabelPropagation(tolerance=1e-3).fit(graph, SPLIT).n_iter_ < 1000
