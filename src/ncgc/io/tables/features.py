"""Which features a graph gets: columns, a file, an array, or the graph's own structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy import sparse

from ncgc.errors import InputError, ParameterError
from ncgc.graph.validation import Features
from ncgc.io.tables.arrays import ENDINGS, read_features
from ncgc.io.tables.columns import LABELS, named_column, plain
from ncgc.io.tables.feature_encoder import FeatureEncoder
from ncgc.io.tables.spectral import spectral_features
from ncgc.io.tables.table import Table

ONLY_HERE = "a model fitted on them is good for this graph only"


@dataclass(frozen=True)
class Chosen:
    """n×D features, the encoder that made them if one did, where they came from, and sentences for the screen."""

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
) -> Chosen:
    """The features asked for; ``taken`` are the columns of ids and labels, which are never features."""
    if encoder is not None:
        if features is not None or kinds:
            raise ParameterError("The features of a fitted encoder are fixed; give no 'features' or 'kinds' beside it.")
        return Chosen(encoder.transform(table), encoder, "columns", [])
    if isinstance(features, str | Path):
        if str(features) == "none":
            return _structure(table, adjacency, [f"The features are made from the graph's structure; {ONLY_HERE}."])
        return _from_file(table, features)
    made = FeatureEncoder(_free(table, features, taken), kinds, [name for name in taken if name]).fit(table)
    if not made.num_features:
        told = f"No column is left for features, so they are made from the graph's structure; {ONLY_HERE}."
        return _structure(table, adjacency, [*made.notes, told])
    used = [(name, kind, width) for name, kind, width in made.describe() if width]
    shown = ", ".join(f"{name!r} ({kind}, {width:,})" for name, kind, width in used[:8])
    more = f" and {len(used) - 8:,} more" if len(used) > 8 else ""
    notes = [*made.notes, f"Features: {made.num_features:,}, from the column{'s' * (len(used) > 1)} {shown}{more}."]
    notes += [
        f"The column {name!r} is used as a feature; give it the kind 'drop' if it tells the labels."
        for name, _, _ in used
        if features is None and plain(name) in LABELS
    ]
    return Chosen(made.transform(table), made, "columns", notes)


def _structure(table: Table, adjacency: sparse.csr_array, notes: list[str]) -> Chosen:
    if not adjacency.nnz:
        raise InputError(
            f"No edge joins two nodes of {table.name} and it has no features, so that nothing tells its nodes apart; give "
            "edges between different nodes, or columns of features."
        )
    return Chosen(spectral_features(adjacency), None, "structure", notes)


def _from_file(table: Table, path: str | Path) -> Chosen:
    if Path(path).suffix.lower() not in ENDINGS:
        raise InputError(
            f"The features {str(path)!r} are neither a {' or '.join(ENDINGS)} file nor 'none'; name columns in a list."
        )
    matrix = read_features(path, len(table), table.name)
    told = f"Features: {matrix.shape[1]:,}, from {Path(path).name}, a row a node in the order of {table.name}."
    return Chosen(matrix, None, "file", [told])


def _free(table: Table, features: Sequence[str] | None, taken: Sequence[str | None]) -> list[str] | None:
    """The columns named, none of which may be that of the ids or the labels: a label is never its own feature."""
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
