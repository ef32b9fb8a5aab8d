"""A graph and its split as plain arrays, and back, every array checked on the way."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from ncgc.datasets.split import PARTS, Split
from ncgc.errors import ModelFileError
from ncgc.graph import Graph
from ncgc.graph.validation import Features
from ncgc.io.model_file.sealed import Damage, Record

Arrays = dict[str, np.ndarray]
TEXT = {"str": str, "text": object}  # numpy's own strings, and Python's


# -------------------------------------------------------------------- writing


def graph_arrays(graph: Graph, split: Split) -> Arrays:
    """The arrays of a graph and its splits for a model file.

    Args:
        graph: whose adjacency, features, labels and public split to store.
        split: whose parts to store.

    Returns:
        The arrays by name.
    """
    arrays = {"labels": graph.labels, **_csr_arrays("adjacency", graph.adjacency)}
    if sparse.issparse(graph.features):
        arrays.update(_csr_arrays("features", graph.features))
    else:
        arrays["features"] = graph.features
    arrays.update({part: getattr(split, part) for part in PARTS})
    for part, nodes in zip(PARTS, graph.public_split or (), strict=False):
        arrays[f"public.{part}"] = np.asarray(nodes)
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def graph_description(graph: Graph, split: Split) -> dict[str, Any]:
    """The description of a graph and its split for a model file: all that is not an array.

    Args:
        graph, split: what :func:`graph_arrays` stores.

    Returns:
        Names, sizes, and the types of ids and classes.
    """
    return {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "ids": None if graph.node_ids is None else _type(graph.node_ids, "node ids"),
        "classes": {"type": _type(graph.classes, "classes"), "names": graph.classes.tolist()},
        "split": {"name": split.name, "seed": None if split.seed is None else int(split.seed)},
    }


def ids_parquet(graph: Graph) -> bytes:
    """The node ids as a Parquet file.

    Args:
        graph: nodes without ids are numbered from 0.

    Returns:
        A table with one column, "id", and one row for each node: text, or whole numbers of the same width as the ids.

    Raises:
        ModelFileError: if an id is not valid text.
    """
    ids = np.arange(graph.num_nodes) if graph.node_ids is None else graph.node_ids
    try:
        column = pa.array(ids) if ids.dtype.kind in "iu" else pa.array(ids.tolist(), pa.string())
    except (UnicodeError, pa.ArrowException) as error:
        raise ModelFileError(f"The node ids cannot be saved as text ({error}); rename those nodes.") from None
    file = io.BytesIO()
    pq.write_table(pa.table({"id": column}), file)
    return file.getvalue()


def _csr_arrays(name: str, matrix: sparse.csr_array) -> Arrays:
    return {f"{name}.indptr": matrix.indptr, f"{name}.indices": matrix.indices, f"{name}.data": matrix.data}


def _type(names: np.ndarray, what: str) -> str:
    """ "int", or the word for one of the two kinds of text."""
    if names.dtype.kind in "iu":
        return "int"
    if names.dtype.kind == "U":
        return "str"
    found = next((type(name).__name__ for name in names.tolist() if not isinstance(name, str)), None)
    if found is None:
        return "text"
    raise ModelFileError(
        f"The {what} of this graph hold a {found}, and a model file keeps text and whole numbers alone; "
        f"name the {what} so and fit again."
    )


# -------------------------------------------------------------------- reading


def stored_graph(arrays: Arrays, parquet: bytes, about: Record) -> tuple[Graph, Split]:
    """Rebuild the graph and split of a model file.

    Args:
        arrays: of :func:`graph_arrays`.
        parquet: of :func:`ids_parquet`.
        about: of :func:`graph_description`.

    Returns:
        The graph and the split, both validated.

    Raises:
        Damage: if the three do not fit each other.
        NCGCError: if graph or split is invalid.
    """
    n, width = about("nodes", int), about("features", int)
    classes, drawn = about.inner("classes"), about.inner("split")
    taken = _Taken(arrays)
    adjacency = taken.csr("adjacency", (n, n))
    _check_adjacency(adjacency)
    split = {part: taken(part, "i", None) for part in PARTS}
    public = None
    if f"public.{next(iter(PARTS))}" in arrays:
        public = tuple(taken(f"public.{part}", "i", None) for part in PARTS)
    graph = Graph(
        adjacency=adjacency,
        features=taken.features((n, width)),
        labels=taken("labels", "i", (n,)).astype(np.int64),
        classes=_names(classes("names", list), classes("type", str), "the class"),
        node_ids=_ids(parquet, about("ids", str, None), n),
        name=about("name", str),
        public_split=public,  # type: ignore[arg-type]
    ).validate()
    made = Split(split["train"], split["val"], split["test"], name=drawn("name", str), seed=drawn("seed", int, None))
    return graph, made.validate(graph)


class _Taken:
    """Arrays by name, with the kind and shape they must have."""

    def __init__(self, arrays: Arrays):
        self.arrays = arrays

    def __call__(self, name: str, kind: str, shape: tuple[int, ...] | None) -> np.ndarray:
        """``shape`` None: one dimension of any length."""
        if name not in self.arrays:
            raise Damage(f"its graph has no {name!r}")
        array = self.arrays[name]
        fits = array.ndim == 1 if shape is None else array.shape == shape
        if array.dtype.kind != kind or not fits:
            raise Damage(f"its graph has a {name!r} of the type {array.dtype} and the shape {array.shape}")
        return array

    def csr(self, name: str, shape: tuple[int, int]) -> sparse.csr_array:
        pointer, indices = self(f"{name}.indptr", "i", None), self(f"{name}.indices", "i", None)
        values = self(f"{name}.data", "f", None).astype(np.float32, copy=False)
        try:
            matrix = sparse.csr_array((values, indices, pointer), shape=shape)
            matrix.check_format(full_check=True)
        except (ValueError, IndexError, TypeError, OverflowError, MemoryError) as error:
            raise Damage(f"the {name!r} of its graph does not hold together ({error})") from None
        if not matrix.has_canonical_format:
            raise Damage(f"the {name!r} of its graph has entries twice or out of order")
        return matrix

    def features(self, shape: tuple[int, int]) -> Features:
        if "features.indptr" in self.arrays:
            return self.csr("features", shape)
        return self("features", "f", shape).astype(np.float32, copy=False)


def _check_adjacency(adjacency: sparse.csr_array) -> None:
    values = adjacency.data
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise Damage("an edge of its graph has a weight that is not above 0")
    if adjacency.diagonal().any() or (adjacency != adjacency.T).nnz:
        raise Damage("the adjacency of its graph is not symmetric, or joins a node to itself")


def _ids(parquet: bytes, kind: str | None, n: int) -> np.ndarray | None:
    try:
        table = pq.ParquetFile(pa.BufferReader(parquet)).read()
        table.validate(full=True)
        column = table.column("id")
    except (pa.ArrowException, OSError, ValueError, KeyError, UnicodeError) as error:
        raise Damage(f"nodes.parquet has no ids ({str(error).splitlines()[0]})") from None
    if len(column) != n or column.null_count:
        raise Damage(f"nodes.parquet has {len(column) - column.null_count} ids for {n} nodes")
    if kind is None:
        return None
    if kind == "int" and pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy())
    return _names(column.to_pylist(), kind, "the node id")


def _names(names: list[Any], kind: str, what: str) -> np.ndarray:
    """(n,) text or whole numbers, depending on the type."""
    if kind != "int" and kind not in TEXT:
        raise Damage(f"it says {kind!r} for the type of {what}, which is not known")
    wanted = int if kind == "int" else str
    wrong = next((name for name in names if not isinstance(name, wanted) or isinstance(name, bool)), None)
    if wrong is not None:
        raise Damage(f"{what} {wrong!r} is not of the type {kind!r}")
    if kind != "text":
        try:
            return np.array(names, dtype=np.int64 if kind == "int" else str)
        except OverflowError:
            raise Damage(f"{what} is too large a number") from None
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array
