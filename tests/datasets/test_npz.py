"""The Amazon and co-author files: against PyG's own classes, and against damage."""

import shutil

import numpy as np
import pytest
from scipy import sparse

from ncgc.datasets.npz import read_npz
from ncgc.errors import DatasetError

FILES = {
    "Computers": "amazon_electronics_computers.npz",
    "Photo": "amazon_electronics_photo.npz",
    "CS": "ms_academic_cs.npz",
    "Physics": "ms_academic_phy.npz",
}


def narrowed(source, target, columns=40):
    """The same file with its first attributes only: PyG makes them dense, more than a gigabyte for Physics."""
    with np.load(source, allow_pickle=False) as file:
        arrays = dict(file)
    parts = tuple(arrays[f"attr_{part}"] for part in ("data", "indices", "indptr"))
    slim = sparse.csr_matrix(parts, shape=tuple(arrays["attr_shape"]))[:, :columns]
    arrays |= {f"attr_{part}": getattr(slim, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(target, **arrays)


@pytest.mark.parametrize("title", FILES)
def test_equals_pyg(benchmark_data, tmp_path, title):
    from torch_geometric.datasets import Amazon, Coauthor

    raw = tmp_path / title / "raw"
    raw.mkdir(parents=True)
    source, target = benchmark_data / title / "raw" / FILES[title], raw / FILES[title]
    if title == "Photo":
        shutil.copy(source, target)
    else:
        narrowed(source, target)
    theirs = (Amazon if title in ("Computers", "Photo") else Coauthor)(str(tmp_path), title)[0]
    ours = read_npz(target, title.lower())

    np.testing.assert_array_equal(ours.labels, theirs.y.numpy())
    np.testing.assert_array_equal(ours.features.toarray(), theirs.x.numpy())
    coo = ours.adjacency.tocoo()
    mine, his = (
        rows.astype(np.int64) * ours.num_nodes + columns
        for rows, columns in ((coo.row, coo.col), theirs.edge_index.numpy())
    )
    np.testing.assert_array_equal(np.sort(mine), np.sort(his))


def test_small_file_by_hand(tmp_path, npz_parts):
    np.savez(tmp_path / "a.npz", **npz_parts)
    graph = read_npz(tmp_path / "a.npz", "photo")
    assert graph.name == "photo"
    assert sparse.issparse(graph.features)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(graph.features.toarray(), [[1, 0, 1], [0, 1, 0], [0, 0, -1], [0, 0, 0]])


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("adj_indices", np.array([1, 1, 2, 99]), "the matrix 'adj' in it does not hold together"),
        ("attr_indptr", np.array([0, 1]), "the matrix 'attr' in it does not hold together"),
        ("adj_shape", np.array([4, 5]), "its adjacency is 4×5 and should be square"),
        ("adj_shape", np.array([4]), "the matrix 'adj' in it does not hold together"),
        ("labels", np.array([0, 1]), "for 4 nodes"),
        ("labels", np.array([0, 1, -1, 0]), "its labels are not class numbers from 0"),
        ("labels", np.array(["a", "b", "a", "b"]), "its labels are not class numbers from 0"),
        ("attr_data", np.array([np.nan, 1, 1, 1]), "not a finite number"),
        ("labels", np.array([{}, {}], dtype=object), "allow_pickle=False"),
    ],
)
def test_damaged_array_is_named(tmp_path, npz_parts, key, value, message):
    np.savez(tmp_path / "a.npz", **(npz_parts | {key: value}))
    with pytest.raises(DatasetError, match=rf"a\.npz is damaged .*{message}"):
        read_npz(tmp_path / "a.npz", "photo")


def test_missing_array(tmp_path, npz_parts):
    del npz_parts["labels"]
    np.savez(tmp_path / "a.npz", **npz_parts)
    with pytest.raises(DatasetError, match=r"it lacks an array .*labels"):
        read_npz(tmp_path / "a.npz", "photo")


@pytest.mark.parametrize("cut", [0, 10, 400])
def test_cut_off_file(tmp_path, npz_parts, cut):
    np.savez(tmp_path / "a.npz", **npz_parts)
    (tmp_path / "a.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:cut])
    with pytest.raises(DatasetError, match=r"a\.npz is damaged"):
        read_npz(tmp_path / "a.npz", "photo")


def test_missing_file(tmp_path):
    with pytest.raises(DatasetError, match=r"a\.npz cannot be read \(No such file"):
        read_npz(tmp_path / "a.npz", "photo")
