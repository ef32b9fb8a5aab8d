"""The features of a block model: for every node a few words, from the topic of its class or from a common background."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ncgc.datasets.synthetic.model import BlockModel
from ncgc.datasets.synthetic.nodes import Nodes
from ncgc.datasets.synthetic.streams import TOPICS, WORDS, generator, spans

TOPIC = 0.1  # share of all words that belong to a class's topic; topics overlap
ZIPF = 0.8  # the word of rank r of the background has a chance in proportion to r^−ZIPF


def word_blocks(model: BlockModel, nodes: Nodes) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(b,) how many different words each node of the block has, and the words, int32, ascending for each node.

    >>> from ncgc.datasets.synthetic.nodes import draw_nodes
    >>> model = BlockModel(num_nodes=1000, features_per_node=3)
    >>> [(counts, words)] = word_blocks(model, draw_nodes(model))
    >>> len(counts), int(counts.max()), len(words) == int(counts.sum())
    (1000, 3, True)
    """
    topics = class_topics(model)
    background = np.cumsum(np.arange(1, model.num_features + 1, dtype=np.float64) ** -ZIPF)
    for block, start, stop in spans(model.num_nodes, model.nodes_a_page):
        random = generator(model.seed, WORDS, block)
        shape = (stop - start, model.features_per_node)
        own = random.random(shape) < model.feature_signal
        chance = random.random(shape)
        rank = (chance * topics.shape[1]).astype(np.int32)
        common = np.searchsorted(background, chance * background[-1], side="right")
        common = np.minimum(common, model.num_features - 1).astype(np.int32)  # rounding at the end
        words = np.where(own, topics[nodes.labels[start:stop, None], rank], common)
        words.sort(axis=1)
        first = np.ones(shape, dtype=bool)
        np.not_equal(words[:, 1:], words[:, :-1], out=first[:, 1:])
        yield first.sum(axis=1), words[first]


def class_topics(model: BlockModel) -> np.ndarray:
    """(K, T) int32: the words of each class's topic, all different within a class.

    >>> class_topics(BlockModel(num_features=50)).shape
    (10, 5)
    """
    size = max(round(TOPIC * model.num_features), 1)
    draws = (generator(model.seed, TOPICS, number) for number in range(model.num_classes))
    return np.stack([random.choice(model.num_features, size, replace=False) for random in draws]).astype(np.int32)


def dense_rows(counts: np.ndarray, words: np.ndarray, num_features: int) -> np.ndarray:
    """(b, D) float32, 1 where a node has the word.

    >>> dense_rows(np.array([2, 1]), np.array([0, 2, 1]), 3)
    array([[1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    rows = np.zeros((len(counts), num_features), dtype=np.float32)
    rows[np.repeat(np.arange(len(counts)), counts), words] = 1
    return rows
