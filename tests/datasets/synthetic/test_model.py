"""Settings that are accepted, and errors for those that are not."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ncgc.datasets.synthetic import BlockModel
from ncgc.datasets.synthetic.model import PARAMETERS
from ncgc.errors import ParameterError


def test_every_field_is_declared_with_its_default():
    assert {row.name: row.default for row in fields(BlockModel)} == {
        name: row.default for name, row in PARAMETERS.items()
    }


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"num_nodes": 0}, "'num_nodes' parameter of ncgc generate must be an int in the range [2, 2147483647]"),
        ({"num_nodes": 2.5}, "Got 2.5 instead"),
        ({"num_classes": 1}, "'num_classes'"),
        ({"homophily": 1.01}, "[0.0, 1.0]"),
        ({"degree_exponent": 2.0}, "(2.0, 100.0]"),
        ({"test": "some"}, "or 'auto'"),
        ({"seed": -1}, "'seed'"),
        ({"features_per_node": 101}, "101 of 100 features; give more features, or fewer a node"),
        ({"num_nodes": 400}, "need 500 nodes, and there are 400; give more nodes, or fewer labels"),
        ({"test": 9501}, "need 10,001 nodes, and there are 10,000"),
        ({"mean_degree": 1e-9}, "have no edge; give a larger one"),
    ],
)
def test_what_cannot_be_is_a_sentence(settings, part):
    with pytest.raises(ParameterError) as caught:
        BlockModel(**settings)
    assert part in str(caught.value)


@pytest.mark.parametrize(("nodes", "test"), [(1000, 250), (10_000, 4750), (100_000, 10_000)])
def test_automatic_test_nodes(nodes, test):
    assert BlockModel(num_nodes=nodes).num_test == test
    assert BlockModel(num_nodes=nodes, test=7).num_test == 7


def test_class_names_sort_as_their_numbers():
    names = BlockModel(num_classes=120).class_names
    assert names == sorted(names)
    assert len(set(names)) == 120


def test_blocks_hold_about_as_much_whatever_the_density():
    dense, lean = BlockModel(num_nodes=10**6, mean_degree=1000), BlockModel(num_nodes=10**6, mean_degree=2)
    assert dense.nodes_a_stretch * 500 == pytest.approx(2**20, rel=0.01)
    assert lean.nodes_a_stretch == 10**6
    assert BlockModel(num_features=10**6, features_per_node=100_000).nodes_a_page * 10**5 <= 2**20
