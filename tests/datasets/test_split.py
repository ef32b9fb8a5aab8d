"""The Split object: what it refuses, and that it hides what training must not see."""

import numpy as np
import pytest
import torch

from ncgc.datasets import Split
from ncgc.errors import SplitError
from ncgc.graph import Graph

LABELS = [0, 1, 0, 1, -1, 1]


@pytest.fixture
def graph():
    return Graph.from_edges([[0, 1], [1, 2]], np.eye(6), labels=LABELS, classes=["ham", "spam"])


def test_parts_are_sorted_copies():
    train = np.array([3, 0])
    split = Split(train, [], [1])
    train[0] = 99
    assert split.train.tolist() == [0, 3]
    assert all(part.dtype == np.int64 for part in (split.train, split.val, split.test))


def test_training_sees_training_labels_only(graph):
    split = Split([0, 1], [2], [3, 5]).validate(graph)
    seen = split.training_labels(graph)
    assert seen.tolist() == [0, 1, -1, -1, -1, -1]
    seen[:] = 7
    assert graph.labels.tolist() == LABELS


def test_validate_returns_the_split_itself(graph):
    split = Split([0, 1], [], [])
    assert split.validate(graph) is split


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor])
def test_from_masks(kind):
    split = Split.from_masks(kind([True, True, False]), test_mask=kind([False, False, True]))
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([0, 1], [], [2])


def test_from_labels(graph):
    split = Split.from_labels(graph)
    assert split.train.tolist() == [0, 1, 2, 3, 5]
    assert (len(split.val), len(split.test), split.name) == (0, 0, "labelled")


def test_repr():
    assert repr(Split([0], [1], [2], name="few", seed=4)) == "Split('few', train=1, val=1, test=1, seed=4)"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([0, 1], [1], []), "Node 1 is both a training and a validation node; keep it in one of them."),
        (([0, 1], [2], [3, 2]), "Node 2 is both a validation and a test node; keep it in one of them."),
        (([0, 1], [], [6]), "The test nodes contain 6, but the nodes are numbered 0 to 5; remove it or split the graph anew."),
        (([-1, 1], [], []), "The training nodes contain -1, but the nodes are numbered 0 to 5; remove it or split the graph anew."),
        (([0, 1, 1], [], []), "Node 1 is listed twice among the training nodes; list it once."),
        (([0, 1, 4], [], []), "The training node 4 has no label; label it or take it out of the split."),
        (([0, 1], [4], []), "The validation node 4 has no label; label it or take it out of the split."),
        (([0, 1], [], [4]), "The test node 4 has no label; label it or take it out of the split."),
        (([], [0], [1]), "The split has no training node; give at least one labelled node of two classes."),
        (([1, 3], [], []), "All 2 training nodes are of the class 'spam'; label a node of another class too."),
    ],
)  # fmt: skip
def test_refused(graph, parts, message):
    with pytest.raises(SplitError) as caught:
        Split(*parts).validate(graph)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([True, False], "turn a mask into node numbers with Split.from_masks"),
        ([0.5, 1], "The training nodes must be a list of whole node numbers. Got float64"),
        ([[0, 1]], r"of the shape \(1, 2\) instead"),
        (["a"], "whole node numbers"),
        (3, r"of the shape \(\) instead"),
    ],
)
def test_not_node_numbers(nodes, message):
    with pytest.raises(SplitError, match=message):
        Split(nodes, [], [])


def test_masks_must_be_masks():
    with pytest.raises(
        SplitError, match=r"^The training mask must hold one true or false a node. Got int64 of the shape \(2,\)"
    ):
        Split.from_masks(np.array([0, 1]))
    with pytest.raises(SplitError, match=r"^The masks have different lengths \(\[1, 2\]\)"):
        Split.from_masks([True, False], [False])


def test_no_labels_at_all():
    with pytest.raises(SplitError, match="no training node"):
        Split.from_labels(Graph.from_edges([], np.eye(2)))
