"""Accuracy, by hand; macro F1 by scikit-learn; calibration by a loop."""

import math

import numpy as np
import pytest
from sklearn.metrics import f1_score

from ncgc.errors import GraphError
from ncgc.evaluation.metrics import accuracy, expected_calibration_error, labelled_accuracy, macro_f1


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


@pytest.mark.parametrize("classes", [2, 5, 12])
def test_macro_f1_is_scikit_learns(classes):
    """Over the classes that occur; of the twelve some occur on one side only and some on none."""
    generator = np.random.default_rng(classes)
    for size in (1, 7, 40):
        truth = generator.integers(min(classes, 9), size=size)
        predicted = np.where(generator.random(size) < 0.6, truth, generator.integers(classes, size=size))
        labels = np.union1d(truth, predicted)
        expected = f1_score(truth, predicted, labels=labels, average="macro", zero_division=0)
        assert macro_f1(predicted, truth, classes) == pytest.approx(expected, abs=1e-12)
    assert math.isnan(macro_f1(np.array([], dtype=int), np.array([], dtype=int), classes))


@pytest.mark.parametrize("bins", [1, 4, 15])
def test_calibration_error_is_that_of_a_loop_over_bins(bins):
    generator = np.random.default_rng(bins)
    probabilities = generator.dirichlet(np.full(4, 0.4), size=300)
    probabilities[:3] = np.eye(4)[:3]  # confidence 1 belongs to the last bin
    truth = np.where(generator.random(300) < 0.5, probabilities.argmax(axis=1), generator.integers(4, size=300))
    expected = 0.0
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = [p for p in range(300) if low < probabilities[p].max() <= high]
        if inside:
            right = np.mean([probabilities[p].argmax() == truth[p] for p in inside])
            expected += len(inside) / 300 * abs(right - np.mean([probabilities[p].max() for p in inside]))
    assert expected_calibration_error(probabilities, truth, bins) == pytest.approx(expected, abs=1e-12)
    assert math.isnan(expected_calibration_error(np.zeros((0, 4)), np.zeros(0, dtype=int)))


def test_certain_and_right_is_calibrated_certain_and_wrong_is_not():
    probabilities = np.eye(3)
    assert expected_calibration_error(probabilities, np.arange(3)) == 0
    assert expected_calibration_error(probabilities, np.array([1, 2, 0])) == 1
