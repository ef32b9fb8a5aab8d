"""The digits graph: against scikit-learn's neighbours, the same every time."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from ncgc.datasets.catalogue import CATALOGUE
from ncgc.datasets.digits import digits_graph, nearest_neighbours
from ncgc.errors import DatasetError


@pytest.fixture(scope="module")
def graph():
    return digits_graph()


def test_figures(graph):
    info = CATALOGUE["digits"]
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (
        info.nodes,
        info.edges,
        info.features,
        info.classes,
    )
    assert graph.name == "digits"
    assert graph.classes.tolist() == list(range(10))


def test_pixels_are_scaled_and_dense(graph):
    assert isinstance(graph.features, np.ndarray)
    assert graph.features.dtype == np.float32
    assert (graph.features.min(), graph.features.max()) == (0, 1)


def test_symmetric_zero_one_no_loops(graph):
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    assert set(graph.adjacency.data.tolist()) == {1.0}
    assert not graph.adjacency.diagonal().any()
    assert graph.degrees.min() >= 10


def test_same_every_time(graph):
    assert (digits_graph().adjacency != graph.adjacency).nnz == 0


def test_neighbours_are_as_near_as_scikit_learn_finds():
    pixels, _ = load_digits(return_X_y=True)
    distances, _ = NearestNeighbors(n_neighbors=11, algorithm="kd_tree").fit(pixels).kneighbors(pixels)
    nearest = nearest_neighbours(pixels, 10)
    mine = np.linalg.norm(pixels[:, None, :] - pixels[nearest], axis=2)
    np.testing.assert_allclose(mine, distances[:, 1:])
    assert not (nearest == np.arange(len(pixels))[:, None]).any()


def test_neighbours_join_alike_digits(graph):
    coo = graph.adjacency.tocoo()
    assert (graph.labels[coo.row] == graph.labels[coo.col]).mean() > 0.95


def test_fewer_neighbours():
    assert digits_graph(3).num_edges < 1797 * 3


@pytest.mark.parametrize("neighbours", [0, 1797])
def test_impossible_number_of_neighbours(neighbours):
    with pytest.raises(DatasetError, match=f"must be from 1 to 1796. Got {neighbours} instead"):
        digits_graph(neighbours)
