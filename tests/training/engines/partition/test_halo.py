"""Parts see what they need, and their rows are those of the whole matrix to the bit; owned nodes are found in them."""

import numpy as np
import pytest

from ncgc import Graph
from ncgc.ops import gcn_normalised, mean_normalised
from ncgc.training.engines.partition import WHOLE, Ownership, make_part, partition, propagation_rows


@pytest.fixture(params=["plain", "weighted"])
def adjacency(request):
    generator = np.random.default_rng(0)
    pairs = generator.integers(0, 60, size=(150, 2))
    weights = None if request.param == "plain" else generator.random(150) + 0.1
    return Graph.from_edges(pairs, np.zeros((60, 1)), weights=weights).adjacency


@pytest.mark.parametrize("kind", ["gcn", "mean"])
@pytest.mark.parametrize("hops", [1, 2])
def test_rows_are_those_of_the_whole_matrix(adjacency, kind, hops):
    whole = (gcn_normalised if kind == "gcn" else mean_normalised)(adjacency)
    owner = partition(adjacency, 4)
    for part in range(4):
        made = make_part(adjacency, np.flatnonzero(owner == part), hops)
        rows = propagation_rows(adjacency, made, kind, made.inner)
        expected = whole[made.nodes[: made.inner]][:, made.nodes]
        assert (rows != expected).nnz == 0
        assert expected.nnz == whole[made.nodes[: made.inner]].nnz  # nothing of these rows lies outside


def test_ownership_finds_its_nodes():
    ownership = Ownership(np.array([3, 4, 9]))
    place, mine = ownership.local(np.array([9, 1, 3, 12]))
    assert place.tolist() == [2, 0]
    assert mine.tolist() == [True, False, True, False]
    assert Ownership().local(np.array([5]))[0].tolist() == [5]


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
