"""Parts see what they need, and their rows are those of the whole matrix to the bit."""

import numpy as np
import pytest
from scipy import sparse

from ncgc import Graph
from ncgc.errors import MissingPackageError, ParameterError
from ncgc.ops import gcn_normalised, mean_normalised
from ncgc.training.engines.partition import Ownership, make_part, partition, propagation_rows


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


def test_every_node_has_one_owner_and_no_part_is_empty(adjacency):
    owner = partition(adjacency, 7)
    assert np.bincount(owner, minlength=7).min() > 0
    assert np.array_equal(owner, partition(adjacency, 7))
    torn = sparse.csr_array((3, 3), dtype=np.float32)
    assert sorted(partition(torn, 3)) == [0, 1, 2]
    with pytest.raises(ParameterError, match="3 nodes cannot be cut into 4 parts"):
        partition(torn, 4)


def test_without_pymetis_it_says_what_to_install(adjacency, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pymetis", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'ncgc\[scale\]'"):
        partition(adjacency, 2)
    assert partition(adjacency, 1).tolist() == [0] * 60


def test_share_finds_its_own():
    share = Ownership(np.array([3, 4, 9]))
    place, mine = share.local(np.array([9, 1, 3, 12]))
    assert place.tolist() == [2, 0]
    assert mine.tolist() == [True, False, True, False]
    assert Ownership().local(np.array([5]))[0].tolist() == [5]
