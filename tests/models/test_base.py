"""The contract of the methods that spread labels and learn nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ncgc import Graph, Split
from ncgc.errors import GraphError, ParameterError, SplitError
from ncgc.models.base import TransductiveClassifier
from ncgc.models.baselines.label_spreading import LabelSpreading
from ncgc.models.registry import BASELINES, find_classifier

SPREADING = [method for method in BASELINES.values() if issubclass(method, TransductiveClassifier)]


@pytest.fixture
def graph():
    """Two paths and two isolated nodes, 6 and 7."""
    edges = [[0, 1], [1, 2], [3, 4], [4, 5]]
    return Graph.from_edges(edges, np.eye(8), [0, 0, 0, 1, 1, 1, 1, -1], classes=["ham", "spam"])


@pytest.mark.parametrize("method", SPREADING)
def test_contract(graph, method):
    split = Split([0, 3, 5], [], [1, 2, 4])
    model = clone(method())
    assert model.fit(graph, split) is model
    probabilities = model.predict_proba()
    assert probabilities.shape == (8, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.predict() == model.classes_[probabilities.argmax(axis=1)]).all()
    assert model.transduction_[[0, 3, 5]].tolist() == ["ham", "spam", "spam"]
    assert model.score() == 1.0
    assert model.score(nodes=np.array([6])) == 1.0  # isolated: two thirds of the training nodes are spam
    assert (method().fit_predict(graph, split) == model.transduction_).all()


@pytest.mark.parametrize("method", SPREADING)
def test_labels_outside_the_training_nodes_are_not_seen(graph, method):
    split = Split([0, 3], [1], [4])
    other = graph.with_labels([0, 1, 1, 1, 0, 0, 0, 0])
    assert (method().fit(graph, split).predict_proba() == method().fit(other, split).predict_proba()).all()


def test_isolated_nodes_get_the_training_shares(graph):
    model = LabelSpreading().fit(graph, Split([0, 3, 5], [], []))
    np.testing.assert_allclose(model.predict_proba()[[6, 7]], [[1 / 3, 2 / 3]] * 2)


def test_an_isolated_training_node_keeps_its_label(graph):
    model = LabelSpreading().fit(graph, Split([0, 1, 6], [], []))
    assert model.predict()[6] == "spam"


def test_misuse_is_a_sentence(graph):
    with pytest.raises(NotFittedError, match="call fit"):
        LabelSpreading().predict()
    model = LabelSpreading().fit(graph, Split([0, 3], [], []))
    with pytest.raises(GraphError, match="no node"):
        model.score()
    with pytest.raises(GraphError, match="node 7 without a label"):
        model.score(nodes=np.array([7]))
    with pytest.raises(SplitError):
        LabelSpreading().fit(graph, Split([0, 1], [], []))
    with pytest.raises(ParameterError, match="did you mean 'label_spreading'"):
        find_classifier("label_spredding")
