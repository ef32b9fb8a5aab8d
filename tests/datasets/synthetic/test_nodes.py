"""Classes and degree factors."""

from __future__ import annotations

import numpy as np
import pytest

from ncgc.datasets.synthetic.nodes import NODES, WORDS, class_shares, draw_nodes, generator, spans
from ncgc.errors import ParameterError


def test_layout(make_model):
    nodes = draw_nodes(make_model(class_skew=0.5))
    np.testing.assert_array_equal(np.sort(nodes.order), np.arange(3000))
    assert (np.diff(nodes.labels[nodes.order]) >= 0).all()
    np.testing.assert_array_equal(nodes.sizes, np.bincount(nodes.labels))
    for number in range(5):
        assert set(nodes.members(number)) == set(np.flatnonzero(nodes.labels == number))
    assert (np.diff(nodes.mass) > 0).all()


@pytest.mark.parametrize("skew", [0.0, 1.0])
def test_classes_have_their_shares(make_model, skew):
    model = make_model(num_nodes=100_000, class_skew=skew)
    sizes, expected = draw_nodes(model).sizes, 100_000 * class_shares(model)
    assert ((sizes - expected) ** 2 / expected).sum() < 25  # χ² with 4 degrees of freedom: 1 in 20,000
    assert expected[0] / expected[4] == pytest.approx(5**skew)


def test_classes_and_degree_factors_are_independent(make_model):
    nodes = draw_nodes(make_model(num_nodes=100_000, degree_exponent=4.0))
    factors = np.diff(nodes.mass, prepend=0.0)
    means = np.diff(nodes.tops, prepend=0.0) / nodes.sizes
    errors = factors.std() / np.sqrt(nodes.sizes)
    assert (np.abs(means - factors.mean()) < 5 * errors).all()
    order = np.argsort(nodes.order)  # nor do they follow the number of the node
    assert abs(np.corrcoef(nodes.labels, np.arange(100_000))[0, 1]) < 0.02
    assert abs(np.corrcoef(factors[order], np.arange(100_000))[0, 1]) < 0.02


@pytest.mark.parametrize("exponent", [2.2, 3.0])
def test_factors_have_the_tail_asked_for(make_model, exponent):
    """Hill's estimate between a factor of 1 and the cap, of a Pareto tail cut off there."""
    factors = np.diff(draw_nodes(make_model(num_nodes=100_000, degree_exponent=exponent)).mass, prepend=0.0)
    cap = np.sqrt(100_000 / 50)
    assert factors.max() <= cap * (1 + 1e-9)
    tail = factors[factors >= 1]
    shape = (tail < cap * (1 - 1e-9)).sum() / np.log(tail).sum()  # likeliest where what is beyond the cap is put on it
    assert shape + 1 == pytest.approx(exponent, abs=0.06)


def test_no_exponent_means_all_alike(make_model):
    assert draw_nodes(make_model(degree_exponent=None)).mass[-1] == 3000


def test_a_class_too_small_for_its_labels_is_a_sentence(make_model):
    model = make_model(num_classes=30, class_skew=2.0)
    with pytest.raises(ParameterError, match=r"smallest class, 'class \d+', has \d+ of 3,000 nodes and needs 7"):
        draw_nodes(model)


def test_every_seed_purpose_and_block_has_its_own():
    draws = [generator(seed, what, block).random() for seed in (0, 1) for what in (NODES, WORDS) for block in (0, 1)]
    assert len(set(draws)) == 8


def test_the_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    generator(0, NODES).random(3)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_spans_cover_all_once():
    assert [stop - start for _, start, stop in spans(10, 4)] == [4, 4, 2]
    assert list(spans(0, 4)) == []
