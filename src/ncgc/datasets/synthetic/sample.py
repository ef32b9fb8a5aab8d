"""A generated graph in memory, the same as the one written to a folder and read again."""

from __future__ import annotations

import numpy as np

from ncgc.datasets.split import PARTS, Split
from ncgc.datasets.synthetic.edges import edge_blocks
from ncgc.datasets.synthetic.features import feature_matrix
from ncgc.datasets.synthetic.model import BlockModel
from ncgc.datasets.synthetic.nodes import LABELLED, Nodes, draw_nodes, generator
from ncgc.graph import Graph


def sample_graph(model: BlockModel) -> Graph:
    """Draw the graph of a block model.

    Args:
        model: the block model.

    Returns:
        The graph: labels on the nodes of its public split, -1 elsewhere.

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
        feature_matrix(model, nodes),
        labels,
        classes=np.array(model.class_names),
        node_ids=np.arange(model.num_nodes),
        name="generated",
        public_split=(split.train, split.val, split.test),
    )


def true_labels(model: BlockModel) -> np.ndarray:
    """The class of every node, labelled or not.

    Args:
        model: the block model.

    Returns:
        (n,) int64.
    """
    return draw_nodes(model).labels.astype(np.int64)


def draw_split(model: BlockModel, nodes: Nodes) -> Split:
    """Draw the labelled nodes: training and validation nodes by class, test nodes from all others.

    Args:
        model: the block model.
        nodes: its nodes.

    Returns:
        The split.
    """
    random = generator(model.seed, LABELLED)
    each = model.labels_per_class + model.validation
    chosen = np.stack(
        [random.choice(nodes.members(number), each, replace=False) for number in range(model.num_classes)]
    )
    free = np.ones(model.num_nodes, dtype=bool)
    free[chosen] = False
    train, val = chosen[:, : model.labels_per_class].ravel(), chosen[:, model.labels_per_class :].ravel()
    return Split(train, val, random.choice(np.flatnonzero(free), model.num_test, replace=False))
