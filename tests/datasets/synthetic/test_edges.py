"""Edges: the exact number, all different, inside and between classes as set."""

from __future__ import annotations

import numpy as np
import pytest

from ncgc.datasets.synthetic.edges import edge_blocks
from ncgc.datasets.synthetic.nodes import draw_nodes
from ncgc.errors import ParameterError


def edges_of(model):
    nodes = draw_nodes(model)
    return nodes, np.concatenate(list(edge_blocks(model, nodes)))


def inside(nodes, edges):
    return nodes.labels[edges[:, 0]] == nodes.labels[edges[:, 1]]


@pytest.mark.parametrize("homophily", [0.0, 0.37, 1.0])
@pytest.mark.parametrize("settings", [{}, {"class_skew": 1.0, "degree_exponent": 2.1}, {"degree_exponent": None}])
@pytest.mark.usefixtures("small_blocks")
def test_exactly_what_was_asked(make_model, homophily, settings):
    model = make_model(homophily=homophily, mean_degree=12, **settings)
    nodes = draw_nodes(model)
    blocks = list(edge_blocks(model, nodes))
    assert len(blocks) > 10
    edges = np.concatenate(blocks)
    assert edges.shape == (18_000, 2)
    assert (edges[:, 0] < edges[:, 1]).all()
    assert len(np.unique(edges, axis=0)) == 18_000
    assert inside(nodes, edges).sum() == round(homophily * 18_000)


def test_the_seed_decides(make_model):
    first, again, other = (edges_of(make_model(seed=seed))[1] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.usefixtures("small_blocks")
def test_degrees_follow_the_factors(make_model):
    """Whatever block a node stands in, first or last in its class: d is Poisson with mean θ·d̄."""
    model = make_model(num_nodes=20_000, mean_degree=20, degree_exponent=3.5)
    nodes, edges = edges_of(model)
    degree = np.bincount(edges.ravel(), minlength=20_000)[nodes.order]
    factor = np.diff(nodes.mass, prepend=0.0)
    expected = 20 * factor / factor.mean()
    for start in range(0, 20_000, 1000):
        stretch = slice(start, start + 1000)
        assert abs(degree[stretch].sum() - expected[stretch].sum()) < 5 * np.sqrt(expected[stretch].sum())
    rank = np.argsort(expected)
    for few in np.array_split(rank[-2000:], 10):  # hubs meet each other once only, which takes a little
        assert degree[few].mean() == pytest.approx(expected[few].mean(), rel=0.06)


def test_the_tail_of_degrees_is_heavy(make_model):
    most = {
        exponent: np.bincount(edges_of(make_model(num_nodes=50_000, degree_exponent=exponent))[1].ravel()).max()
        for exponent in (None, 4.0, 2.2)
    }
    assert most[None] < 35  # Poisson with mean 10
    assert most[None] < most[4.0] < most[2.2]
    assert 250 < most[2.2] < 700  # the cap is at √(n·d̄/K) = 316 before what is cut off is made up for


def test_pairs_of_classes_by_their_mass(make_model):
    """Inside a class in proportion to w_a, between two to w_a·w_b."""
    model = make_model(num_nodes=20_000, class_skew=0.7, mean_degree=10, degree_exponent=None)
    nodes, edges = edges_of(model)
    ends = np.sort(nodes.labels[edges].astype(int), axis=1)
    table = np.bincount(5 * ends[:, 0] + ends[:, 1], minlength=25).reshape(5, 5)
    shares = nodes.sizes / 20_000
    between = np.triu(np.outer(shares, shares), 1)
    for found, weights in ((np.diag(table), shares), (table[between > 0], between[between > 0])):
        expected = 50_000 * weights / weights.sum()
        assert ((found - expected) ** 2 / expected).sum() < 40  # χ² with 4 and 9 degrees of freedom


def test_a_dense_graph_is_filled_up_to_half(make_model):
    _, edges = edges_of(make_model(num_nodes=100, num_classes=2, mean_degree=48, labels_per_class=2))
    assert len(np.unique(edges, axis=0)) == 2400


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"num_nodes": 100, "mean_degree": 90, "homophily": 0.1}, "edges between classes are more than half of the"),
        ({"num_nodes": 200, "mean_degree": 60, "homophily": 0.9}, "5,400 edges inside classes are more than half of"),
    ],
)
def test_too_many_edges_are_a_sentence(make_model, settings, part):
    with pytest.raises(ParameterError, match=part):
        edges_of(make_model(**settings))


def test_edges_that_are_never_found_are_a_sentence(make_model, monkeypatch):
    monkeypatch.setattr("ncgc.datasets.synthetic.edges.MOST_ROUNDS", 1)
    with pytest.raises(ParameterError, match="different edges were found for 3,000 nodes of these degrees; give fewer"):
        edges_of(make_model(mean_degree=30))


def test_two_nodes(make_model):
    model = make_model(num_nodes=40, num_classes=2, mean_degree=0.05, homophily=0, labels_per_class=1, validation=0)
    assert edges_of(model)[1].shape == (1, 2)
