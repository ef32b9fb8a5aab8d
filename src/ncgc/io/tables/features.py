"""Where the features of a graph come from: columns of the node table, a file (.npy, .npz), or the graph's structure."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ncgc.errors import InputError, ParameterError
from ncgc.graph.features import SPARSE_BELOW
from ncgc.graph.validation import Features, all_finite, as_features, first_not_finite
from ncgc.io.tables.columns import LABELS, named_column, plain_name
from ncgc.io.tables.feature_encoder import FeatureEncoder
from ncgc.io.tables.spectral import spectral_features
from ncgc.io.tables.table import Table, read_file

ENDINGS = (".npz", ".npy")
# Bytes from which a .npy file is memory-mapped: float32 rows in C order are then never copied as a whole.
MAPPED_FROM = 1 << 26
ONLY_HERE = "a model fitted on them is good for this graph only"


@dataclass(frozen=True)
class ChosenFeatures:
    """Features and where they came from.

    Attributes:
        matrix: n×D float32, CSR or dense.
        encoder: that made them; None where they came from a file or the structure.
        origin: "columns", "file", "array" or "structure".
        notes: sentences for the user.
    """

    matrix: Features
    encoder: FeatureEncoder | None
    origin: str
    notes: list[str]


def choose_features(
    table: Table,
    taken: Sequence[str | None],
    features: str | Path | Sequence[str] | None,
    kinds: Mapping[str, str] | None,
    encoder: FeatureEncoder | None,
    adjacency: sparse.csr_array,
) -> ChosenFeatures:
    """Make the features of a graph.

    Args:
        table: the node table.
        taken: columns of ids and labels, which are never features.
        features: None for all other columns, column names, a .npz or .npy file, or "none" for the structure.
        kinds: kinds of columns, by name, where the guess would be wrong.
        encoder: of a fitted model; ``features`` and ``kinds`` must then be None.
        adjacency: n×n symmetric CSR, for features of the structure.

    Returns:
        The features.
    """
    if encoder is not None:
        if features is not None or kinds:
            raise ParameterError("The features of a fitted encoder are fixed; give no 'features' or 'kinds' beside it.")
        return ChosenFeatures(encoder.transform(table), encoder, "columns", [])
    if isinstance(features, str | Path):
        if str(features) == "none":
            return _structure(table, adjacency, [f"The features are made from the graph's structure; {ONLY_HERE}."])
        return _from_file(table, features)
    made = FeatureEncoder(_free(table, features, taken), kinds, [name for name in taken if name]).fit(table)
    if not made.num_features:
        note = f"No column is left for features, so they are made from the graph's structure; {ONLY_HERE}."
        return _structure(table, adjacency, [*made.notes, note])
    used = [(name, kind, width) for name, kind, width in made.describe() if width]
    shown = ", ".join(f"{name!r} ({kind}, {width:,})" for name, kind, width in used[:8])
    more = f" and {len(used) - 8:,} more" if len(used) > 8 else ""
    notes = [*made.notes, f"Features: {made.num_features:,}, from the column{'s' * (len(used) > 1)} {shown}{more}."]
    notes += [
        f"The column {name!r} is used as a feature; give it the kind 'drop' if it reveals the labels."
        for name, _, _ in used
        if features is None and plain_name(name) in LABELS
    ]
    return ChosenFeatures(made.transform(table), made, "columns", notes)


def _structure(table: Table, adjacency: sparse.csr_array, notes: list[str]) -> ChosenFeatures:
    if not adjacency.nnz:
        raise InputError(
            f"No edge joins two nodes of {table.name} and it has no features, so that nothing tells its nodes apart; give "
            "edges between different nodes, or columns of features."
        )
    return ChosenFeatures(spectral_features(adjacency), None, "structure", notes)


def _from_file(table: Table, path: str | Path) -> ChosenFeatures:
    if Path(path).suffix.lower() not in ENDINGS:
        raise InputError(
            f"The features {str(path)!r} are neither a {' or '.join(ENDINGS)} file nor 'none'; name columns in a list."
        )
    matrix = read_features(path, len(table), table.name)
    note = f"Features: {matrix.shape[1]:,}, from {Path(path).name}, a row a node in the order of {table.name}."
    return ChosenFeatures(matrix, None, "file", [note])


def _free(table: Table, features: Sequence[str] | None, taken: Sequence[str | None]) -> list[str] | None:
    """The columns with the given names; ids and labels are refused: a label is never its own feature."""
    if features is None:
        return None
    if not all(isinstance(name, str) for name in features):
        raise ParameterError(
            "The features must be names of columns, a .npz or .npy file, or 'none'; save an array first."
        )
    names = [named_column(table, name, "features") for name in features]
    for name in names:
        if name in taken:
            raise InputError(
                f"{table.name}: the column {name!r} holds the ids or the labels and cannot be a feature too."
            )
    return names


# -------------------------------------------------------------------- features from a file


def read_features(path: str | Path, rows: int, nodes: str) -> Features:
    """Read features from a ``.npy`` file (one 2-D array) or ``.npz`` (scipy's ``save_npz``, or one 2-D array).

    Opened with ``allow_pickle=False``: files of objects are refused.

    Args:
        path: the file; its rows are in the order of the node table.
        rows: number of nodes.
        nodes: name of the node table, for messages.

    Returns:
        rows×D float32, CSR below 6 % non-zeros, dense above.

    Raises:
        InputError: names what is wrong with the file and what to do.
    """
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path.name} has an extension that is not known; give the features as .npz or .npy.")
    content = None if _large(path) else read_file(path)
    try:
        matrix = _mapped(path) if content is None else _load(content, path.suffix.lower())
    except Exception as error:  # a damaged archive may raise anything at all; none of it is our bug
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path.name} cannot be read as features ({reason}); "
            "save one 2-D array of numbers with numpy.save, or a matrix with scipy.sparse.save_npz."
        ) from None
    if matrix.shape[0] != rows:
        raise InputError(
            f"{path.name} has {matrix.shape[0]} rows but {nodes} has {rows} nodes; give one row a node, in the same order."
        )
    if not matrix.shape[1]:
        raise InputError(f"{path.name} has no columns; give at least one feature.")
    return _checked(as_features(matrix), path.name)


def _large(path: Path) -> bool:
    """Whether the file is an array that is better memory-mapped."""
    try:
        return path.suffix.lower() == ".npy" and path.is_file() and path.stat().st_size >= MAPPED_FROM
    except OSError:  # read_file reports why
        return False


def _mapped(path: Path) -> Any:
    """The array in the file, memory-mapped: rows are read when used and may be evicted again."""
    return _checked_kind(np.load(path, mmap_mode="r", allow_pickle=False))


def _load(content: bytes, ending: str) -> Any:
    """The 2-D matrix of numbers in the file, or a ValueError with the reason."""
    loaded = np.load(io.BytesIO(content), allow_pickle=False)
    matrix: Any = loaded
    if not isinstance(loaded, np.ndarray):
        if "format" in loaded.files:
            matrix = sparse.load_npz(io.BytesIO(content)).tocsr()
            matrix.check_format(full_check=True)
        elif len(loaded.files) == 1:
            matrix = loaded[loaded.files[0]]
        else:
            raise ValueError(f"it holds {len(loaded.files)} arrays, not one")
    return _checked_kind(matrix)


def _checked_kind(matrix: Any) -> Any:
    if matrix.ndim != 2:
        raise ValueError(f"its array has {matrix.ndim} dimension{'s' * (matrix.ndim != 1)}, not two")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"its entries are {matrix.dtype}, not numbers")
    return matrix


def _checked(features: Features, name: str) -> Features:
    if not all_finite(features):
        row, column = first_not_finite(features)
        raise InputError(
            f"{name} row {row + 1}, column {column + 1} is not a finite number (as float32); "
            "replace NaN and infinite values, for example with 0 or the column's mean."
        )
    count = features.nnz if sparse.issparse(features) else np.count_nonzero(features)
    lean = count < SPARSE_BELOW * features.shape[0] * features.shape[1]
    if lean and not sparse.issparse(features):
        return sparse.csr_array(features)
    return features.toarray() if sparse.issparse(features) and not lean else features
