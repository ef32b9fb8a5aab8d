"""Accuracy, by hand."""

import math

import numpy as np
import pytest

from ncgc.errors import GraphError
from ncgc.metrics import accuracy, labelled_accuracy


def test_accuracy_is_the_share_that_agrees():
    assert accuracy(np.array([0, 1, 2, 2]), np.array([0, 1, 1, 2])) == 0.75
    assert accuracy(np.array(["a", "b"]), np.array(["b", "a"])) == 0
    assert math.isnan(accuracy(np.array([]), np.array([])))


def test_labelled_accuracy_looks_at_the_nodes_given():
    predicted, truth = np.array([0, 1, 2, 0]), np.array([0, 2, 2, -1])
    assert labelled_accuracy(predicted, truth, np.array([0, 2])) == 1
    assert labelled_accuracy(predicted, truth, np.array([0, 1])) == 0.5
    assert labelled_accuracy(predicted, truth, [1]) == 0


@pytest.mark.parametrize(("nodes", "found"), [([], "no node"), ([0, 3], "node 3 without a label")])
def test_labelled_accuracy_needs_labels(nodes, found):
    with pytest.raises(GraphError, match=f"score needs labelled nodes to compare with but got {found}"):
        labelled_accuracy(np.zeros(4), np.array([0, 0, 0, -1]), nodes)


@pytest.mark.parametrize(("nodes", "outside"), [([4], 4), ([-1], -1), ([0, 2, 9], 9)])
def test_nodes_outside_the_graph_are_named(nodes, outside):
    with pytest.raises(GraphError, match=f"got node {outside}, but the nodes are numbered 0 to 3"):
        labelled_accuracy(np.zeros(4), np.zeros(4, dtype=int), nodes)


def test_a_mask_is_as_good_as_numbers():
    predicted, truth = np.array([0, 1, 2, 0]), np.array([0, 2, 2, -1])
    assert labelled_accuracy(predicted, truth, truth >= 0) == 2 / 3
    with pytest.raises(GraphError, match="got node 3 without a label"):
        labelled_accuracy(predicted, truth, np.ones(4, dtype=bool))


@pytest.mark.parametrize("nodes", [[0.5], ["a"], [[0, 1]], [True, False]])
def test_what_is_no_list_of_nodes_is_refused(nodes):
    with pytest.raises(GraphError, match="score needs labelled nodes"):
        labelled_accuracy(np.zeros(4), np.zeros(4, dtype=int), nodes)
