"""A generated graph in memory, the same as the one written to a folder and read again."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ncgc.datasets.split import PARTS, Split
from ncgc.datasets.synthetic.edges import edge_blocks
from ncgc.datasets.synthetic.model import LARGEST, BlockModel
from ncgc.datasets.synthetic.nodes import Nodes, draw_nodes
from ncgc.datasets.synthetic.streams import LABELLED, generator
from ncgc.datasets.synthetic.features import word_blocks
from ncgc.graph import Graph
from ncgc.io.tables.features import SPARSE_BELOW


def sample_graph(model: BlockModel) -> Graph:
    """The Graph of a model, with labels where `ncgc fit` would find some, -1 elsewhere, and the split in ``public_split``.

    >>> graph = sample_graph(BlockModel(num_nodes=2000, num_classes=4))
    >>> graph
    Graph(nodes=2000, edges=10000, features=100, classes=4, labelled=1100)
    >>> Split(*graph.public_split)
    Split('custom', train=80, val=120, test=900)
    """
    nodes = draw_nodes(model)
    split = draw_split(model, nodes)
    labels = np.full(model.num_nodes, -1, dtype=np.int64)
    for part in PARTS:
        labels[getattr(split, part)] = nodes.labels[getattr(split, part)]
    return Graph.from_edges(
        np.concatenate(list(edge_blocks(model, nodes))),
        _features(model, nodes),
        labels,
        classes=np.array(model.class_names),
        node_ids=np.arange(model.num_nodes),
        name="generated",
        public_split=(split.train, split.val, split.test),
    )


def true_labels(model: BlockModel) -> np.ndarray:
    """(n,) int64 the class of every node, known or not."""
    return draw_nodes(model).labels.astype(np.int64)


def draw_split(model: BlockModel, nodes: Nodes) -> Split:
    """Which nodes carry a label: so many of each class to learn from and to choose by, and some of all others for test."""
    random = generator(model.seed, LABELLED)
    each = model.labels_per_class + model.validation
    chosen = np.stack(
        [random.choice(nodes.members(number), each, replace=False) for number in range(model.num_classes)]
    )
    free = np.ones(model.num_nodes, dtype=bool)
    free[chosen] = False
    train, val = chosen[:, : model.labels_per_class].ravel(), chosen[:, model.labels_per_class :].ravel()
    return Split(train, val, random.choice(np.flatnonzero(free), model.num_test, replace=False))


def _features(model: BlockModel, nodes: Nodes) -> sparse.csr_array | np.ndarray:
    """n×D float32 of zeros and ones: CSR below 6 % ones as in the reader, dense above."""
    counts, words = (np.concatenate(part) for part in zip(*word_blocks(model, nodes), strict=True))
    pointer = np.concatenate([[0], np.cumsum(counts)])
    shape = (model.num_nodes, model.num_features)
    index = np.int32 if len(words) <= LARGEST else np.int64  # one type for both, the one scipy reads a file with
    ones = np.ones(len(words), dtype=np.float32)
    matrix = sparse.csr_array((ones, words.astype(index), pointer.astype(index)), shape=shape)
    return matrix if len(words) < SPARSE_BELOW * shape[0] * shape[1] else matrix.toarray()
