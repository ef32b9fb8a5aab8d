"""Features from .npz and .npy, and never a pickle."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from ncgc.errors import InputError
from ncgc.graph import validation
from ncgc.io.tables import arrays
from ncgc.io.tables.arrays import read_features


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array"])
def test_scipy_matrices(tmp_path, form):
    dense = np.zeros((5, 60), dtype=np.float64)
    dense[[0, 3], [7, 59]] = 2.5
    sparse.save_npz(tmp_path / "x.npz", getattr(sparse, form)(dense))
    found = read_features(tmp_path / "x.npz", 5, "nodes.csv")
    assert sparse.issparse(found)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray(), dense)


@pytest.mark.parametrize("dtype", ["float64", "int16", "bool", "float16"])
def test_arrays(tmp_path, dtype):
    values = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    np.save(tmp_path / "x.npy", values)
    np.savez_compressed(tmp_path / "x.npz", anything=values)
    for name in ("x.npy", "x.npz"):
        found = read_features(tmp_path / name, 3, "nodes.csv")
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, values.astype(np.float32))


def test_form_follows_density(tmp_path):
    sparse.save_npz(tmp_path / "full.npz", sparse.csr_array(np.ones((3, 3))))
    np.save(tmp_path / "thin.npy", np.eye(30))
    assert isinstance(read_features(tmp_path / "full.npz", 3, "nodes.csv"), np.ndarray)
    assert sparse.issparse(read_features(tmp_path / "thin.npy", 30, "nodes.csv"))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.ones((4, 2)), r"x.npy has 4 rows but nodes.csv has 3 nodes; give one row a node, in the same order"),
        (np.ones(3), r"x.npy cannot be read as features \(its array has 1 dimension, not two\)"),
        (np.ones((3, 2, 2)), r"3 dimensions, not two"),
        (np.ones((3, 0)), r"x.npy has no columns"),
        (np.array([["a"]] * 3), r"its entries are <U1, not numbers"),
        (np.ones((3, 2)) * 1j, r"its entries are complex128, not numbers"),
        (np.array([[1, 2], [3, np.nan], [5, 6]]), r"x.npy row 2, column 2 is not a finite number"),
        (np.array([[1, 2], [3, 4], [1e200, 6]]), r"x.npy row 3, column 1 is not a finite number"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_what_is_refused(tmp_path, values, said):
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(InputError, match=said):
        read_features(tmp_path / "x.npy", 3, "nodes.csv")


def test_pickles_are_refused(tmp_path):
    objects = np.array([[Bomb()]] * 3, dtype=object)
    np.save(tmp_path / "x.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "x.npz", x=objects)
    (tmp_path / "plain.npy").write_bytes(pickle.dumps(Bomb()))
    for name in ("x.npy", "x.npz", "plain.npy"):
        with pytest.raises(InputError, match=f"{name} cannot be read as features"):
            read_features(tmp_path / name, 3, "nodes.csv")


def test_damaged_matrices(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.ones((3, 1)), b=np.ones((3, 1)))
    with pytest.raises(InputError, match="it holds 2 arrays, not one"):
        read_features(tmp_path / "two.npz", 3, "nodes.csv")
    np.savez(tmp_path / "out.npz", format=b"csr", shape=(3, 2), data=[1.0], indices=[9], indptr=[0, 1, 1, 1])
    with pytest.raises(InputError, match=r"out.npz cannot be read as features"):
        read_features(tmp_path / "out.npz", 3, "nodes.csv")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "two.npz").read_bytes()[:100])
    with pytest.raises(InputError, match=r"cut.npz cannot be read as features"):
        read_features(tmp_path / "cut.npz", 3, "nodes.csv")
    with pytest.raises(InputError, match=r"x.mat has an extension that is not known"):
        read_features(tmp_path / "x.mat", 3, "nodes.csv")
    with pytest.raises(InputError, match="There is no file"):
        read_features(tmp_path / "none.npy", 3, "nodes.csv")


def test_a_large_array_stays_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "MAPPED_FROM", 1000)
    rows = np.random.default_rng(0).random((50, 10)).astype(np.float32)
    np.save(tmp_path / "x.npy", rows)
    found = read_features(tmp_path / "x.npy", 50, "nodes.csv")
    np.testing.assert_array_equal(found, rows)
    assert isinstance(found.base, np.memmap)
    assert not found.flags.writeable
    damaged = (tmp_path / "x.npy").read_bytes()[:1500]
    (tmp_path / "short.npy").write_bytes(damaged)
    with pytest.raises(InputError, match=r"short\.npy cannot be read as features"):
        read_features(tmp_path / "short.npy", 50, "nodes.csv")


def test_a_number_that_is_not_finite_is_found_in_whichever_block(tmp_path, monkeypatch):
    monkeypatch.setattr(validation, "BLOCK_ENTRIES", 30)  # three rows a block
    rows = np.ones((20, 10), dtype=np.float32)
    rows[16, 4] = np.nan
    np.save(tmp_path / "x.npy", rows)
    with pytest.raises(InputError, match="row 17, column 5"):
        read_features(tmp_path / "x.npy", 20, "nodes.csv")
