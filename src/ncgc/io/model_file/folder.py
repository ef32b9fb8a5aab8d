"""A fitted model as a folder, and back: plain JSON, safetensors and Parquet. Nothing is unpickled.

model.json            what it is: format, version, method, parameters, history, calibration, checksums of the others
weights.safetensors   the arrays of the model
graph.safetensors     the fitted graph: adjacency, features, labels, which nodes trained
nodes.parquet         the ids of its nodes

This file knows nothing of classifiers: :mod:`ncgc.models.stored` turns one into a :class:`ModelRecord` and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from ncgc.datasets import Split
from ncgc.errors import ModelFileError, OutputError
from ncgc.files import TEMPORARY, whole_folder
from ncgc.graph import Graph
from ncgc.io.model_file.sealed import Damage, Record, digest, parsed, sealed, unsealed
from ncgc.io.model_file.stored_graph import graph_arrays, graph_description, ids_parquet, stored_graph
from ncgc.version import __version__

FORMAT = 3
FORMATS = (1, 2, 3)  # those that are read; 1 was NCGC's own, 2 that of all other methods
ABOUT, WEIGHTS, GRAPH, NODES = FILES = ("model.json", "weights.safetensors", "graph.safetensors", "nodes.parquet")
INSIDE = "model"  # where a run folder has its model


@dataclass(frozen=True, eq=False)
class ModelRecord:
    """What a model file holds.

    Attributes:
        about: what JSON can say of the model.
        arrays: its arrays by name.
        graph, split: what it was fitted on.
        format: the format it was read from.
    """

    about: Record
    arrays: dict[str, np.ndarray]
    graph: Graph
    split: Split
    format: int = FORMAT


def write_model(
    folder: str | Path,
    about: dict[str, Any],
    arrays: dict[str, np.ndarray],
    graph: Graph,
    split: Split,
    *,
    overwrite: bool = False,
) -> None:
    """Write a model folder, whole or not at all.

    Args:
        folder: new or empty; with ``overwrite`` also one that holds a model, which then makes way.
        about: what JSON can say of the model.
        arrays: its arrays by name.
        graph, split: what it was fitted on.
        overwrite: whether a model that is there is replaced.

    Raises:
        ModelFileError: if ``about`` is not plain JSON.
        OutputError: if the folder holds anything else.
    """
    folder = Path(folder)
    _check_place(folder)
    head = {"format": FORMAT, "ncgc": __version__, "graph": graph_description(graph, split)}
    files = {
        WEIGHTS: safetensors.numpy.save({name: np.array(array, order="C") for name, array in arrays.items()}),
        GRAPH: safetensors.numpy.save(graph_arrays(graph, split)),
        NODES: ids_parquet(graph),
    }
    checksums = {name: digest(content) for name, content in files.items()}
    try:
        files[ABOUT] = sealed({**head, **about, "files": checksums}).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"The 'extra' of a model file must be plain JSON ({error}); leave out the rest.") from None
    with whole_folder(folder, overwrite, at_once=True) as place:
        for name, written in files.items():
            (place / name).write_bytes(written)


def _check_place(folder: Path) -> None:
    """Raise unless what is in the folder, if anything, is a model and nothing else: it would all be replaced."""
    if not folder.is_dir():
        return  # a new one, or a file: whole_folder reports it
    others = [file.name for file in folder.iterdir() if file.name not in FILES and not file.name.startswith(TEMPORARY)]
    if others:
        raise OutputError(
            f"The folder {folder} holds {sorted(others)[0]!r}, which is no part of a model; give another one."
        )


# -------------------------------------------------------------------- reading


def model_folder(path: str | Path) -> Path:
    """Find the folder of a model.

    Args:
        path: that folder, or the folder of a run that has a model.

    Returns:
        The folder with ``model.json``.

    Raises:
        ModelFileError: if there is none.
    """
    path = Path(path)
    try:
        place = next((place for place in (path, path / INSIDE) if (place / ABOUT).is_file()), None)
        found = "a file" if path.is_file() else "a folder without model.json" if path.is_dir() else "not there"
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    if place is None:
        run = path if (path / "predictions.csv").exists() or (path / "predictions.parquet").exists() else path.parent
        if (run / "config.toml").exists() and (run / "metrics.json").exists():
            found += ", and the method of this run leaves no model, since it labels the nodes of its own graph alone"
        raise ModelFileError(f"{path} is {found}; give the folder of a saved model, or of a run that has one.")
    return place


def read_model(folder: Path) -> ModelRecord:
    """Read a model folder, every checksum checked.

    Args:
        folder: the one with ``model.json``.

    Returns:
        What it holds.

    Raises:
        Damage: if a file is missing, changed or cut short.
        ModelFileError: if it is of a version that is not read.
    """
    text = _read(folder, ABOUT)
    number = _checked_format(folder, text)
    about = Record(_damage_in(ABOUT, unsealed, text), ABOUT)
    checksums = about.inner("files")
    content = {name: _read(folder, name) for name in FILES[1:]}
    for name, written in content.items():
        if digest(written) != checksums(name, str):
            raise Damage(f"{name} is not the one that belongs to model.json (its checksum does not fit)")
    graph, split = stored_graph(_tensors(content[GRAPH], GRAPH), content[NODES], about.inner("graph"))
    return ModelRecord(about, _tensors(content[WEIGHTS], WEIGHTS), graph, split, number)


def _checked_format(folder: Path, text: bytes) -> int:
    """Its format, before anything else is read: another one may have other entries, and another checksum."""
    about = Record(_damage_in(ABOUT, parsed, text), ABOUT)
    number, version = about("format", int), about("ncgc", str)
    if number not in FORMATS:
        newer = "install a newer ncgc" if number > max(FORMATS) else "fit and save it anew"
        raise ModelFileError(
            f"The model in {folder} was made by ncgc {version}, format {number}; this one, {__version__}, reads the formats "
            f"{', '.join(map(str, FORMATS[:-1]))} and {FORMATS[-1]}; {newer}."
        )
    return int(number)


def _damage_in(name: str, read: Any, text: bytes) -> dict[str, Any]:
    try:
        values: dict[str, Any] = read(text)
    except Damage as damage:
        raise Damage(f"of {name}, {damage}") from None
    return values


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except FileNotFoundError:
        raise Damage(f"{name} is missing") from None
    except OSError as error:
        raise Damage(f"{name} cannot be opened ({error.strerror or error})") from None


def _tensors(content: bytes, name: str) -> dict[str, np.ndarray]:
    try:
        return dict(safetensors.numpy.load(content))
    except Exception as error:  # whatever its reader stumbles on, it is the file's fault
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Damage(f"{name} is not a whole safetensors file ({reason})") from None
