"""Words from a class's topic and from the background."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ncgc.datasets.synthetic import features
from ncgc.datasets.synthetic.features import ZIPF, class_topics, dense_rows, word_blocks, write_npy, write_npz
from ncgc.datasets.synthetic.nodes import draw_nodes


def rows_of(model):
    nodes = draw_nodes(model)
    parts = [dense_rows(counts, words, model.num_features) for counts, words in word_blocks(model, nodes)]
    return nodes, np.concatenate(parts)


@pytest.mark.usefixtures("small_blocks")
def test_rows_are_ascending_and_without_repetition(make_model):
    model = make_model()
    blocks = list(word_blocks(model, draw_nodes(model)))
    assert len(blocks) > 10
    assert sum(len(counts) for counts, _ in blocks) == 3000
    for counts, words in blocks:
        assert ((counts >= 1) & (counts <= 10)).all()
        starts = np.cumsum(counts)[:-1]
        rises = np.diff(words) > 0
        rises[starts - 1] = True
        assert rises.all()


def test_topics_differ_and_have_a_tenth_of_the_words(make_model):
    topics = class_topics(make_model(num_features=400))
    assert topics.shape == (5, 40)
    assert all(len(set(topic)) == 40 for topic in topics)
    assert len({tuple(sorted(topic)) for topic in topics}) == 5


def test_the_signal_is_the_share_from_the_topic(make_model):
    """With one word a node, a word of the own topic comes up s/T + (1−s)·Zipf of the time."""
    model = make_model(num_nodes=40_000, features_per_node=1, feature_signal=0.4, num_features=50)
    nodes, rows = rows_of(model)
    background = np.arange(1, 51) ** -ZIPF
    background /= background.sum()
    for number, topic in enumerate(class_topics(model)):
        expected = 0.6 * background
        expected[topic] += 0.4 / 5
        found = rows[nodes.labels == number].sum(axis=0)
        expected *= found.sum()
        assert ((found - expected) ** 2 / expected).sum() < 110  # χ² with 49 degrees of freedom


def test_without_signal_classes_look_alike(make_model):
    nodes, rows = rows_of(make_model(num_nodes=20_000, feature_signal=0.0))
    means = np.stack([rows[nodes.labels == number].mean(axis=0) for number in range(5)])
    assert np.ptp(means, axis=0).max() < 0.05


def test_dense_rows():
    assert dense_rows(np.array([1, 0]), np.array([2]), 3).tolist() == [[0, 0, 1], [0, 0, 0]]


BLOCKS = [(np.array([2, 0]), np.array([0, 3], dtype=np.int32)), (np.array([1]), np.array([1], dtype=np.int32))]
MATRIX = [[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_npy(tmp_path):
    write_npy(tmp_path / "x.npy", BLOCKS, (3, 4))
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), np.array(MATRIX, dtype=np.float32), strict=True)


def test_npz_is_scipys(tmp_path, monkeypatch):
    monkeypatch.setattr(features, "PIECE", 2)
    write_npz(tmp_path / "x.npz", BLOCKS, (3, 4))
    matrix = sparse.load_npz(tmp_path / "x.npz")
    assert matrix.format == "csr"
    assert matrix.toarray().tolist() == MATRIX
    assert [file.name for file in tmp_path.iterdir()] == ["x.npz"]


def test_npz_without_a_one(tmp_path):
    write_npz(tmp_path / "x.npz", [(np.array([0, 0]), np.zeros(0, dtype=np.int32))], (2, 4))
    assert sparse.load_npz(tmp_path / "x.npz").nnz == 0
