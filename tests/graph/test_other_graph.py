"""Graphs that a model is asked about: the same features, and labels by name."""

import numpy as np
import pytest

from ncgc import Graph
from ncgc.errors import GraphError
from ncgc.graph.other_graph import check_is_graph, check_same_features, labels_among


@pytest.fixture
def graph():
    return Graph.from_edges([[0, 1]], np.eye(3), [0, -1, 1], classes=["spam", "ham", "eggs"])


def test_something_else_is_no_graph(graph):
    check_is_graph(graph)
    with pytest.raises(GraphError, match=r"must be an ncgc.Graph. Got list instead; build one with"):
        check_is_graph([[0, 1]])


def test_features_are_counted(graph):
    check_same_features(graph, 3)
    with pytest.raises(GraphError, match="has 3 features but the model was fitted on 4"):
        check_same_features(graph, 4)


def test_labels_go_by_name(graph):
    assert labels_among(graph, np.array(["ham", "spam"])).tolist() == [1, -1, 0]
    with pytest.raises(GraphError, match=r"of the class 'ham', which the model was not fitted with; .* 'eggs', 'spam'"):
        labels_among(graph, np.array(["eggs", "spam"]))
