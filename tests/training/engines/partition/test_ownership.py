"""Where the nodes of a share stand, whichever way they are looked up."""

import numpy as np
import pytest

from ncgc.training.engines.partition import WHOLE, Ownership


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shuffled", [False, True])
def test_local_is_the_look_up_by_hand(seed, shuffled):
    generator = np.random.default_rng(seed)
    owned = np.sort(generator.choice(60, 9, replace=False))
    nodes = np.sort(generator.choice(60, 40, replace=False))  # more than are owned: searched the other way if in order
    if shuffled:
        generator.shuffle(nodes)
    place, mine = Ownership(owned).local(nodes)
    by_hand = [owned.tolist().index(node) for node in nodes.tolist() if node in owned]
    assert place.tolist() == by_hand
    assert mine.tolist() == [node in owned for node in nodes.tolist()]
    assert np.array_equal(owned[place], nodes[mine])


def test_nothing_to_look_for():
    place, mine = Ownership(np.array([3, 4])).local(np.zeros(0, dtype=np.int64))
    assert (len(place), len(mine)) == (0, 0)
    assert WHOLE.local(np.array([2, 1]))[0].tolist() == [2, 1]
