"""Planetoid files: against PyG's own class, and against damage."""

import pickle
import shutil

import numpy as np
import pytest
from scipy import sparse

from ncgc.datasets.planetoid import read_planetoid
from ncgc.errors import DatasetError


def edge_set(edge_index):
    return set(map(tuple, edge_index.T.tolist()))


def both_directions(graph):
    coo = graph.adjacency.tocoo()
    return set(zip(coo.row.tolist(), coo.col.tolist(), strict=True))


@pytest.mark.parametrize(("title", "nonzeros"), [("Cora", 49216), ("CiteSeer", 105165), ("PubMed", 988031)])
def test_equals_pyg(benchmark_data, tmp_path, title, nonzeros):
    from torch_geometric.datasets import Planetoid

    shutil.copytree(benchmark_data / title / "raw", tmp_path / title / "raw")
    theirs = Planetoid(str(tmp_path), title)[0]
    ours = read_planetoid(benchmark_data / title / "raw", title.lower())

    assert ours.features.nnz == nonzeros
    np.testing.assert_array_equal(ours.features.toarray(), theirs.x.numpy())
    np.testing.assert_array_equal(ours.labels, theirs.y.numpy())
    assert both_directions(ours) == edge_set(theirs.edge_index)
    for index, mask in zip(ours.public_split, ("train_mask", "val_mask", "test_mask"), strict=True):
        np.testing.assert_array_equal(index, theirs[mask].numpy().nonzero()[0])


def test_citeseer_has_fifteen_blank_nodes(benchmark_data):
    graph = read_planetoid(benchmark_data / "CiteSeer" / "raw", "citeseer")
    test = graph.public_split[2]
    blank = np.setdiff1d(np.arange(test.min(), test.max() + 1), test)
    assert len(blank) == 15
    assert graph.features[blank].nnz == 0
    assert (graph.degrees[blank] > 0).all()  # not isolated, though often called so
    assert (graph.labels[blank] == 0).all()


def test_small_file_by_hand(planetoid_raw):
    graph = read_planetoid(planetoid_raw, "cora")
    assert graph.name == "cora"
    assert (graph.num_nodes, graph.num_edges) == (9, 5)  # 0-1 twice, 0-2, 3-4, 4-8, 5-7; the loop 2-2 gone
    assert sparse.issparse(graph.features)
    np.testing.assert_array_equal(graph.labels, [0, 1, 1, 0, 1, 0, 0, 1, 1])
    np.testing.assert_array_equal(graph.features.toarray()[[8, 5, 7, 6], 0], [16, 19, 22, 0])
    train, val, test = graph.public_split
    assert (train.tolist(), val.tolist(), test.tolist()) == ([0, 1], [2, 3, 4], [5, 7, 8])


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("allx", np.eye(3), r"should hold a sparse matrix of numbers but holds ndarray of the shape \(3, 3\)"),
        ("ally", {}, "should hold one-hot labels but holds dict"),
        ("ally", np.eye(2), r"has the shape \(2, 2\) where the other files need \(5, 2\)"),
        ("tx", sparse.csr_matrix(np.eye(3)[:2]), r"has the shape \(2, 3\) where the other files need \(3, 3\)"),
        ("graph", [1, 2], "should hold a dictionary of neighbour lists but holds list"),
        ("graph", {0: ["a"]}, "a neighbour in it is not a node number"),
        ("graph", {0: [99]}, r"joins the nodes \[0, 99\] but there are only 9 nodes"),
    ],
)
def test_damaged_part_is_named(planetoid_raw, part, value, message):
    (planetoid_raw / f"ind.cora.{part}").write_bytes(pickle.dumps(value, protocol=2))
    with pytest.raises(
        DatasetError, match=rf"ind\.cora\.{part} is damaged .*{message}; replace it with a fresh copy\.$"
    ):
        read_planetoid(planetoid_raw, "cora")


@pytest.mark.parametrize(
    ("content", "message"), [("8\nfive\n", "one node number a line"), ("5 5 7", "different"), ("", "different")]
)
def test_damaged_index(planetoid_raw, content, message):
    (planetoid_raw / "ind.cora.test.index").write_text(content)
    with pytest.raises(DatasetError, match=rf"ind\.cora\.test\.index is damaged .*{message}"):
        read_planetoid(planetoid_raw, "cora")


def test_test_nodes_among_the_known(planetoid_raw):
    (planetoid_raw / "ind.cora.test.index").write_text("8 5 1")
    with pytest.raises(DatasetError, match="its 5 rows overlap the test nodes"):
        read_planetoid(planetoid_raw, "cora")


def test_missing_index(planetoid_raw):
    (planetoid_raw / "ind.cora.test.index").unlink()
    with pytest.raises(DatasetError, match=r"test\.index cannot be read"):
        read_planetoid(planetoid_raw, "cora")
