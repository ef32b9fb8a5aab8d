"""Every node has one owner, the same every time, and no part is empty."""

import numpy as np
import pytest
from scipy import sparse

from ncgc import Graph
from ncgc.errors import MissingPackageError, ParameterError
from ncgc.training.engines.partition import partition


@pytest.fixture(params=["plain", "weighted"])
def adjacency(request):
    generator = np.random.default_rng(0)
    pairs = generator.integers(0, 60, size=(150, 2))
    weights = None if request.param == "plain" else generator.random(150) + 0.1
    return Graph.from_edges(pairs, np.zeros((60, 1)), weights=weights).adjacency


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
