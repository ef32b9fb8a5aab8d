"""Logistic regression of the features against scikit-learn's own, and what scikit-learn does not know of."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Reference
from sklearn.preprocessing import normalize

from ncgc import Graph, Split
from ncgc.errors import ParameterError
from ncgc.models.registry import find_classifier

LogisticRegression = find_classifier("logistic_regression")


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_is_scikit_learns_on_rows_of_length_one(make_planted, form):
    graph, split = make_planted(form)
    x = normalize(graph.features.toarray() if sparse.issparse(graph.features) else graph.features)
    reference = Reference(C=3.0, max_iter=1000).fit(x[split.train], graph.labels[split.train])
    found = LogisticRegression(C=3.0).fit(graph, split).predict_proba()
    np.testing.assert_allclose(found, reference.predict_proba(x), atol=1e-3)


def test_two_classes_have_two_columns():
    graph = Graph.from_edges([], np.array([[1.0, 0], [0, 1], [2, 1], [1, 3]]), [0, 1, -1, -1])
    probabilities = LogisticRegression().fit(graph).predict_proba()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert probabilities.argmax(axis=1).tolist() == [0, 1, 0, 1]


def test_a_class_without_a_training_node_is_not_expected_anywhere():
    graph = Graph.from_edges([], np.eye(4), [0, 2, 1, -1], classes=["a", "b", "c"])
    probabilities = LogisticRegression().fit(graph, Split([0, 1], [], [2])).predict_proba()
    assert (probabilities[:, 1] < 1e-9).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_a_penalty_of_nothing_is_refused(make_planted):
    with pytest.raises(ParameterError, match="The 'C' parameter of LogisticRegression must be"):
        LogisticRegression(C=0.0).fit(*make_planted())
