"""Blocks of labels: which nodes they hold, what their layers multiply with, and when there are none."""

import numpy as np
import pytest
import torch
from scipy import sparse

from ncgc.graph.features import FeatureNormalizer
from ncgc.nn import SOGN
from ncgc.training.engines.partition import label_blocks as labelled
from ncgc.training.engines.partition.label_blocks import LabelOperators, label_blocks
from ncgc.training.engines.partition.part_operators import PartSource


def network(backbone="gcn", layers=2):
    return SOGN(4, 3, backbone, hidden=5, num_layers=layers, generator=torch.Generator().manual_seed(0))


def test_layers_have_the_rows_of_the_whole_matrix(make_planted):
    graph, split = make_planted()
    source, nodes = PartSource(graph, FeatureNormalizer.fit(graph, "raw")), np.sort(split.train[:2])
    block = LabelOperators(source, nodes, layers=2)
    within = block.part.within
    assert within[0] == block.owned == 2
    assert block.features.shape[0] == within[2] == block.num_nodes
    for layer, (rows, columns) in enumerate([(within[1], within[2]), (within[0], within[1])]):
        for kind in ("gcn", "mean"):
            whole = getattr(source, kind)[block.part.nodes[:rows]]
            found = getattr(block.of_layer(layer), kind).csr.to_dense().numpy()
            np.testing.assert_allclose(found, whole[:, block.part.nodes[:columns]].toarray())
            np.testing.assert_allclose(found.sum(axis=1), whole.sum(axis=1), rtol=1e-5)  # nothing is elsewhere


@pytest.mark.parametrize(("part", "expected"), [(100, 1), (1, 4)])
def test_every_label_is_in_one_block(monkeypatch, part, expected):
    monkeypatch.setattr(labelled, "WIDER", 6)
    ring = sparse.csr_array(np.roll(np.eye(100), 1, axis=1) + np.roll(np.eye(100), -1, axis=1))
    blocks = label_blocks(network(), ring, np.array([80, 20, 60, 40]), part)
    assert len(blocks) == expected
    assert np.concatenate(blocks).tolist() == [20, 40, 60, 80]


def test_none_where_they_cost_more_than_the_parts(make_planted):
    graph, split = make_planted()
    everybody = np.arange(graph.num_nodes)
    assert label_blocks(network(), graph.adjacency, everybody, graph.num_nodes)  # one block: as much as there is
    assert label_blocks(network(), graph.adjacency, everybody, 1) == []
    assert label_blocks(network("gat"), graph.adjacency, split.train, graph.num_nodes) == []
    assert label_blocks(network(), graph.adjacency, np.zeros(0, dtype=np.int64), graph.num_nodes) == []
