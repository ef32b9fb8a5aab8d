"""Which nodes to label next, on graphs small enough to think about."""

import numpy as np
import pytest

from ncgc import Graph
from ncgc.errors import ParameterError
from ncgc.selection.active import suggest_labels, suggestions_frame


def graph_of(pairs, n, **options):
    return Graph.from_edges(np.array(pairs), np.eye(n), **options)


def nodes_of(chosen):
    return [one.node for one in chosen]


UNLABELLED = np.full(6, -1)


def naive(adjacency, probabilities, given, top):
    """The formula with dense matrices and whole powers, and the choice as a loop."""
    n, classes = probabilities.shape
    looped = adjacency.toarray() + np.eye(n)
    degree = looped.sum(axis=1)
    walk = looped / np.sqrt(np.outer(degree, degree))
    unsure = np.array([-sum(p * np.log(p) for p in row if p > 0) / np.log(classes) for row in probabilities])
    free = given < 0
    spread = sum(0.2 * 0.8**t * np.linalg.matrix_power(walk, t) for t in range(11)) @ np.where(free, unsure, 0)
    spread /= spread[free].max()
    scores, found = np.where(free, unsure * spread, -1), []
    while len(found) < min(top, free.sum()):
        node = int(scores.argmax())
        found.append((node, scores[node], unsure[node], spread[node]))
        scores[node] = -1
        for other in np.flatnonzero(adjacency.toarray()[node]):
            scores[other] *= 0.5 if scores[other] > 0 else 1
    return found


@pytest.mark.parametrize("seed", range(4))
def test_as_the_formula_says_on_a_weighted_graph(seed):
    generator = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(generator.random((25, 25)) < 0.15, 1))
    graph = graph_of(pairs, 25, weights=generator.uniform(0.5, 3, len(pairs)))
    probabilities = generator.dirichlet([0.5, 0.5, 0.5], 25)
    given = np.where(generator.random(25) < 0.2, 1, -1)
    found = suggest_labels(graph, probabilities, given, top=12)
    expected = naive(graph.adjacency, probabilities, given, 12)
    assert nodes_of(found) == [row[0] for row in expected]
    figures = [(one.score, one.uncertainty, one.reach) for one in found]
    np.testing.assert_allclose(figures, [row[1:] for row in expected], rtol=1e-6)


def test_a_labelled_node_is_never_suggested():
    graph = graph_of([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], 6)
    given = np.array([0, -1, 1, -1, 0, -1])
    assert sorted(nodes_of(suggest_labels(graph, np.full((6, 2), 0.5), given, top=100))) == [1, 3, 5]
    assert suggest_labels(graph, np.full((6, 2), 0.5), np.zeros(6, dtype=int)) == []


def test_what_is_certain_scores_nothing_and_comes_last():
    graph = graph_of([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], 6)
    probabilities = np.array([[1.0, 0.0]] * 3 + [[0.6, 0.4]] + [[1.0, 0.0]] * 2)
    first, *rest = suggest_labels(graph, probabilities, UNLABELLED)
    assert first.node == 3
    assert first.score > 0
    assert len(rest) == 5
    assert all(one.score == one.uncertainty == 0 for one in rest)
    assert not any(np.signbit(one.uncertainty) for one in rest)


def test_of_two_equally_unsure_the_more_central_one():
    graph = graph_of([[4, 0], [4, 1], [4, 2], [4, 3]], 6)
    unsure = np.full((6, 2), 0.5)
    found = suggest_labels(graph, unsure, UNLABELLED, top=1)[0]
    assert (found.node, found.uncertainty, found.reach) == (4, 1, 1)
    sure_around = np.array([[1.0, 0.0]] * 4 + [[0.5, 0.5]] * 2)
    assert suggest_labels(graph, sure_around, UNLABELLED, top=1)[0].node == 5  # a hub of certain nodes tells little


def test_the_second_is_not_a_neighbour_of_the_first():
    """Two cliques in which all nodes are alike."""
    pairs = [[i, j] for start in (0, 5) for i in range(start, start + 5) for j in range(i + 1, start + 5)]
    first, second = nodes_of(suggest_labels(graph_of(pairs, 10), np.full((10, 3), 1 / 3), np.full(10, -1), top=2))
    assert first // 5 != second // 5


def test_more_than_there_are():
    graph = graph_of([[0, 1]], 6)
    found = suggest_labels(graph, np.full((6, 2), 0.5), UNLABELLED, top=1000)
    assert sorted(nodes_of(found)) == list(range(6))


@pytest.mark.parametrize("top", [0, -3])
def test_none_at_all_is_refused(top):
    with pytest.raises(ParameterError, match="1 or more"):
        suggest_labels(graph_of([[0, 1]], 6), np.full((6, 2), 0.5), UNLABELLED, top=top)


def test_the_table_has_the_nodes_own_ids():
    graph = graph_of([[0, 1], [1, 2]], 3, classes=["ham", "spam"], node_ids=["x", "y", "z"])
    probabilities = np.array([[0.9, 0.1], [0.4, 0.6], [0.8, 0.2]])
    chosen = suggest_labels(graph, probabilities, np.full(3, -1), top=2)
    table = suggestions_frame(graph, probabilities, chosen)
    assert list(table.columns) == ["id", "score", "uncertainty", "reach", "guess", "confidence"]
    assert table.iloc[0][["id", "guess", "confidence"]].tolist() == ["y", "spam", 0.6]
    assert len(suggestions_frame(graph, probabilities, [])) == 0
