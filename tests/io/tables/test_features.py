"""Features from columns, a file or the structure; what a file may hold, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ncgc.errors import InputError, ParameterError
from ncgc.graph import validation
from ncgc.io import FeatureEncoder
from ncgc.io.tables import features as module
from ncgc.io.tables.features import choose_features, read_features
from ncgc.io.tables.table import as_table

FRAME = pd.DataFrame(
    {"id": list("ABCD"), "label": ["x", "y", "x", "y"], "age": [1.0, 5.0, 7.0, 2.0], "class": ["u", "v", "u", "v"]}
)
LINE = sparse.csr_array(np.eye(4, k=1) + np.eye(4, k=-1))


def choose(features=None, kinds=None, encoder=None, frame=FRAME):
    return choose_features(as_table(frame, "nodes"), ["id", "label"], features, kinds, encoder, LINE)


def test_every_other_column():
    chosen = choose()
    assert chosen.origin == "columns"
    assert chosen.encoder.used_columns == ["age", "class"]
    assert chosen.notes == [
        "Features: 3, from the columns 'age' (number, 1), 'class' (category, 2).",
        "The column 'class' is used as a feature; give it the kind 'drop' if it reveals the labels.",
    ]


def test_named_columns():
    chosen = choose(["Age"])
    assert chosen.encoder.used_columns == ["age"]
    assert chosen.notes == ["Features: 1, from the column 'age' (number, 1)."]
    with pytest.raises(ParameterError, match="features must be names of columns"):
        choose(np.ones((4, 2)))
    for taken in ("label", "ID"):
        with pytest.raises(InputError, match="holds the ids or the labels and cannot be a feature"):
            choose(["age", taken])


@pytest.mark.parametrize("how", ["none", "nothing left"])
def test_structure(how):
    chosen = choose("none") if how == "none" else choose(kinds={"age": "drop", "class": "drop"})
    assert chosen.origin == "structure"
    assert chosen.encoder is None
    assert chosen.matrix.shape[0] == 4
    assert "good for this graph only" in chosen.notes[-1]


def test_a_file(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((4, 3)))
    chosen = choose(str(tmp_path / "x.npy"))
    assert (chosen.origin, chosen.encoder, chosen.matrix.shape) == ("file", None, (4, 3))
    with pytest.raises(
        InputError, match=r"features 'age' are neither a .npz or .npy file nor 'none'; name columns in a list"
    ):
        choose("age")


def test_a_fitted_encoder():
    encoder = FeatureEncoder(["age"]).fit(FRAME)
    chosen = choose(encoder=encoder)
    assert chosen.encoder is encoder
    assert chosen.matrix.shape == (4, 1)
    for options in ({"features": "none"}, {"kinds": {"age": "number"}}):
        with pytest.raises(ParameterError, match="features of a fitted encoder are fixed"):
            choose(encoder=encoder, **options)


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
def test_numpy_arrays(tmp_path, dtype):
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
    ("values", "message"),
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
def test_files_that_are_refused(tmp_path, values, message):
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(InputError, match=message):
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
    monkeypatch.setattr(module, "MAPPED_FROM", 1000)
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
