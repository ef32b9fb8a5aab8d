"""A generator for every block."""

from __future__ import annotations

import numpy as np

from ncgc.datasets.synthetic.streams import NODES, WORDS, generator, spans


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
