"""The restricted unpickler: reads what data sets are written with, runs nothing else."""

import os
import pickle

import numpy as np
import pytest
from scipy import sparse

from ncgc.datasets.raw_files import read_pickle
from ncgc.errors import DatasetError


class Malicious:
    """Its pickle calls os.system when loaded by the plain loader."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def stored(tmp_path, value, protocol=2):
    path = tmp_path / "ind.cora.x"
    path.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value, protocol=protocol))
    return path


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_reads_arrays(tmp_path, protocol):
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    np.testing.assert_array_equal(read_pickle(stored(tmp_path, array, protocol)), array)


def test_reads_csr_written_by_any_scipy(tmp_path):
    matrix = sparse.random(5, 4, density=0.5, format="csr", random_state=0)
    today = pickle.dumps(sparse.csr_matrix(matrix), protocol=2)
    for module in (b"scipy.sparse._csr", b"scipy.sparse.csr"):
        found = read_pickle(stored(tmp_path, today.replace(b"scipy.sparse._csr", module)))
        assert (found != matrix).nnz == 0


def test_malicious_file_is_refused_and_not_run(tmp_path):
    witness = tmp_path / "witness"
    path = stored(tmp_path, Malicious(f"touch {witness}"))
    with pytest.raises(
        DatasetError, match=r"ind\.cora\.x is damaged or not the data set's own: it names '(posix|nt)\.system'"
    ):
        read_pickle(path)
    assert not witness.exists()


@pytest.mark.parametrize(
    "program",
    [
        b"cbuiltins\neval\n(S'1+1'\ntR.",
        b"c__builtin__\ngetattr\n(clist\nS'x'\ntR.",
        b"cnumpy\nload\n(S'x'\ntR.",
        b"cscipy.sparse\nload_npz\n(S'x'\ntR.",
        b"ccollections\nsys.exit\n(tR.",
    ],
)
def test_other_names_are_refused(tmp_path, program):
    with pytest.raises(DatasetError, match="which no data set needs"):
        read_pickle(stored(tmp_path, program))


def test_other_codecs_are_refused(tmp_path):
    with pytest.raises(DatasetError, match="codec 'rot13'"):
        read_pickle(stored(tmp_path, b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00rot13\x86R."))


@pytest.mark.parametrize("content", [b"", b"<html>", b"\x80\x02", b"\x80\x02}q"])
def test_damaged_file_is_named(tmp_path, content):
    with pytest.raises(DatasetError, match=r"ind\.cora\.x is damaged .*; replace it with a fresh copy\.$"):
        read_pickle(stored(tmp_path, content))


def test_csr_whose_indices_lie_outside(tmp_path):
    matrix = sparse.csr_matrix(np.eye(3))
    matrix.indices = np.array([0, 1, 900], dtype=np.int32)
    with pytest.raises(DatasetError, match="is damaged"):
        read_pickle(stored(tmp_path, matrix))


def test_csr_without_state(tmp_path):
    with pytest.raises(DatasetError, match="is damaged"):
        read_pickle(stored(tmp_path, b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81."))


def test_missing_file(tmp_path):
    with pytest.raises(DatasetError, match=r"nothing cannot be read \(No such file or directory\)"):
        read_pickle(tmp_path / "nothing")
