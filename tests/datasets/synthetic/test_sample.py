"""A graph in memory, and who is labelled in it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ncgc.datasets import Split
from ncgc.datasets.synthetic import sample_graph, true_labels


def test_labels_and_split(make_model):
    model = make_model()
    graph, truth = sample_graph(model), true_labels(model)
    split = Split(*graph.public_split).validate(graph)
    assert np.bincount(truth[split.train]).tolist() == [3] * 5
    assert np.bincount(truth[split.val]).tolist() == [4] * 5
    assert len(split.test) == (3000 - 35) // 2
    known = graph.labels >= 0
    assert known.sum() == model.labelled == 35 + 1482
    np.testing.assert_array_equal(graph.labels[known], truth[known])
    assert graph.classes.tolist() == model.class_names
    assert graph.num_edges == model.num_edges


def test_labels_do_not_change_edges_or_features(make_model):
    one, other = sample_graph(make_model()), sample_graph(make_model(labels_per_class=9, test=0))
    assert (one.adjacency != other.adjacency).nnz == 0
    np.testing.assert_array_equal(one.features, other.features)


@pytest.mark.parametrize(("features", "lean"), [(100, False), (300, True)])
def test_features_are_sparse_below_six_per_cent(make_model, features, lean):
    graph = sample_graph(make_model(num_features=features))
    assert sparse.issparse(graph.features) == lean
    assert graph.features.shape == (3000, features)
    assert graph.features.dtype == np.float32
    assert set(np.unique(graph.features.data if lean else graph.features)) <= {0.0, 1.0}


def test_neighbours_and_words_tell_more_than_either(make_model):
    """The mean over the neighbours of a linear score finds more classes than the own score does."""
    model = make_model(num_nodes=4000)
    graph, truth = sample_graph(model), true_labels(model)
    scores = graph.features @ np.stack([graph.features[truth == number].mean(axis=0) for number in range(5)]).T
    scores -= scores.mean(axis=0)
    own = (scores.argmax(axis=1) == truth).mean()
    joined = scores + (graph.adjacency @ scores) / np.maximum(graph.degrees, 1)[:, None] * 2
    assert 0.3 < own < 0.8
    assert (joined.argmax(axis=1) == truth).mean() > own + 0.05
