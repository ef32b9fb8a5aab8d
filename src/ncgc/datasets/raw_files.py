"""Raw files of data sets: pickles read without running anything that may be hidden in them, and errors for damaged files.

A pickle is a program: the plain loader calls whatever function it names. Here a name resolves only if it is one of the
few that a numpy array, a CSR matrix or a dictionary of lists is written with; any other refuses the file.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ncgc.errors import DatasetError

try:  # numpy 2 moved it
    from numpy._core.multiarray import _reconstruct
except ImportError:  # pragma: no cover - numpy 1
    from numpy.core.multiarray import _reconstruct  # type: ignore[no-redef]


class CsrState:
    """Stands in for scipy's csr_matrix: keeps the pickled arrays, to be checked before scipy's C code sees them."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state

    def matrix(self) -> sparse.csr_array:
        """The n×D CSR array, every index checked to lie inside."""
        shape = self.state["_shape" if "_shape" in self.state else "shape"]
        parts = tuple(self.state[key] for key in ("data", "indices", "indptr"))
        matrix = sparse.csr_array(parts, shape=tuple(int(size) for size in shape))
        matrix.check_format(full_check=True)
        return matrix


def _encode(text: str, encoding: str = "latin1") -> bytes:
    """Python 3 writes bytes for Python 2 as text to be encoded in latin1; no other codec is needed."""
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"it asks for the codec {encoding!r}")
    return text.encode("latin1")


_ALLOWED: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): CsrState,
    ("scipy.sparse._csr", "csr_matrix"): CsrState,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("_codecs", "encode"): _encode,
}


class RestrictedUnpickler(pickle.Unpickler):
    """An unpickler that knows ten names and refuses every other.

    >>> import io
    >>> RestrictedUnpickler(io.BytesIO(pickle.dumps({0: [1]}))).load()
    {0: [1]}
    >>> RestrictedUnpickler(io.BytesIO(pickle.dumps(print))).load()
    Traceback (most recent call last):
    _pickle.UnpicklingError: it names 'builtins.print', which no data set needs
    """

    def find_class(self, module: str, name: str, /) -> Any:
        """Resolve a name in a pickle file; the unpickler calls it for every name it meets.

        Args:
            module: module of the function or class.
            name: its name in that module.

        Returns:
            The function or class, if it is an allowed one.

        Raises:
            UnpicklingError: for any other name.
        """
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it names '{module}.{name}', which no data set needs") from None


def read_pickle(path: Path) -> Any:
    """Read one pickled Planetoid file.

    Args:
        path: the file.

    Returns:
        The array, CSR array or dictionary in it.

    Raises:
        DatasetError: names the file and what is wrong with it.
    """
    try:
        with path.open("rb") as file:
            found = RestrictedUnpickler(file, encoding="latin1").load()
        return found.matrix() if isinstance(found, CsrState) else found
    except OSError as error:
        raise unreadable(path, error) from None
    except Exception as error:  # a damaged pickle may raise anything at all; none of it is our bug
        raise damaged(path, str(error) or type(error).__name__) from None


def damaged(path: Path, why: str) -> DatasetError:
    """The error for a file whose content is wrong.

    Args:
        path: the file.
        why: what is wrong with it, as half a sentence.

    Returns:
        The error, to be raised by the caller.

    >>> raise damaged(Path("ind.cora.y"), "it is empty")
    Traceback (most recent call last):
    ncgc.errors.DatasetError: The file ind.cora.y is damaged or not the data set's own: it is empty; replace it with a fresh copy.
    """
    return DatasetError(
        f"The file {path} is damaged or not the data set's own: {why.strip().rstrip('.')}; replace it with a fresh copy."
    )


def unreadable(path: Path, error: OSError) -> DatasetError:
    """The error for a file that cannot be opened.

    Args:
        path: the file.
        error: why the system refused to open it.

    Returns:
        The error, to be raised by the caller.

    >>> raise unreadable(Path("ind.cora.y"), PermissionError(13, "Permission denied"))
    Traceback (most recent call last):
    ncgc.errors.DatasetError: The file ind.cora.y cannot be read (Permission denied); check that it is there and yours to read.
    """
    why = error.strerror or error
    return DatasetError(f"The file {path} cannot be read ({why}); check that it is there and yours to read.")
