"""A fitted model as a folder, and back: plain JSON, safetensors and Parquet. Nothing is unpickled.

model.json            what it is: format, version, parameters, classes, history, calibration, checksums of the others
weights.safetensors   the network, the mean of the features; of NCGC also the centroids and the class shares
graph.safetensors     the fitted graph: adjacency, features, labels, which nodes trained
nodes.parquet         the ids of its nodes
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import safetensors.numpy
from sklearn.exceptions import NotFittedError

from ncgc import __version__
from ncgc.datasets import Split
from ncgc.errors import ModelFileError, NCGCError, OutputError
from ncgc.files import TEMPORARY, whole_folder
from ncgc.graph import Graph
from ncgc.io.model_file.sealed import Damage, Record, digest, parsed, sealed, unsealed
from ncgc.io.model_file.stored_fit import fit_arrays, fit_facts, restore_fit, stored_parameters
from ncgc.io.model_file.stored_graph import graph_arrays, graph_facts, ids_parquet, stored_graph
from ncgc.io.model_file.stored_method import method_arrays, method_facts, stored_method
from ncgc.io.model_file.stored_network import network_arrays, network_facts, stored_network
from ncgc.models.ncgc import NCGC
from ncgc.models.registry import Method
from ncgc.nn import GraphOperators

FORMAT, OF_METHODS = FORMATS = (1, 2)  # NCGC's, and that of the methods it is compared with
ABOUT, WEIGHTS, GRAPH, NODES = FILES = ("model.json", "weights.safetensors", "graph.safetensors", "nodes.parquet")
INSIDE = "model"  # where a run folder has its model
M = TypeVar("M")


# -------------------------------------------------------------------- writing


def save_model(
    model: NCGC | Method, folder: str | Path, *, extra: Mapping[str, Any] | None = None, overwrite: bool = False
) -> None:
    """Write a fitted model to a folder, whole or not at all.

    Args:
        model: fitted; NCGC with a backbone by name, or a method that can label nodes it has not seen.
        folder: new or empty; with ``overwrite`` also one that holds a model, which then makes way.
        extra: anything JSON takes, found again as ``extra_``; default: that of the file the model came from.
    """
    if not hasattr(model, "graph_"):
        raise NotFittedError(f"This {type(model).__name__} is not fitted yet; call fit(graph, split) before save.")
    if isinstance(model, NCGC) and not (isinstance(model.backbone, str) and isinstance(model.network_.backbone, str)):
        raise ModelFileError(
            "The backbone of this model is a function of yours, which cannot be kept in a file; use the model in the "
            "program that made it, or fit one with a backbone by name."
        )
    folder = Path(folder)
    _check_place(folder)
    content = _content(model, model.extra_ if extra is None else extra)
    with whole_folder(folder, overwrite, at_once=True) as place:
        for name, written in content.items():
            (place / name).write_bytes(written)


def _content(model: NCGC | Method, extra: Mapping[str, Any]) -> dict[str, bytes]:
    """The bytes of every file."""
    if isinstance(model, NCGC):
        number, own = FORMAT, {"network": network_facts(model.network_), **fit_facts(model)}
        weights = network_arrays(model.network_) | fit_arrays(model)
    else:
        number, own, weights = OF_METHODS, method_facts(model), method_arrays(model)
    facts: dict[str, Any] = {
        "format": number,
        "ncgc": __version__,
        "graph": graph_facts(model.graph_, model.split_),
        **own,
        "extra": extra,
    }
    files = {
        WEIGHTS: safetensors.numpy.save(weights),
        GRAPH: safetensors.numpy.save(graph_arrays(model.graph_, model.split_)),
        NODES: ids_parquet(model.graph_),
    }
    facts["files"] = {name: digest(content) for name, content in files.items()}
    try:
        return {**files, ABOUT: sealed(facts).encode()}
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"The 'extra' of a model file must be plain JSON ({error}); leave out the rest.") from None


def _check_place(folder: Path) -> None:
    """Raise unless what is in the folder, if anything, is a model and nothing else: it would all be replaced."""
    if not folder.is_dir():
        return  # a new one, or a file: whole_folder says so
    others = [file.name for file in folder.iterdir() if file.name not in FILES and not file.name.startswith(TEMPORARY)]
    if others:
        raise OutputError(
            f"The folder {folder} holds {sorted(others)[0]!r}, which is no part of a model; give another one."
        )


# -------------------------------------------------------------------- reading


def load_model(folder: str | Path) -> NCGC | Method:
    """The model in a folder, or in the folder ``model`` of a run, as it was when it was saved; ``extra`` is its ``extra_``.

    Raises:
        ModelFileError: one sentence on what is missing, damaged or of another version.
    """
    folder = model_folder(folder)
    try:
        return _load(folder)
    except ModelFileError:
        raise
    except (Damage, NCGCError) as error:
        reason = str(error).rstrip(".")
        raise ModelFileError(
            f"The model in {folder} cannot be read: {reason}; copy it again, or fit and save it anew."
        ) from None


def load_model_of(kind: type[M], folder: str | Path) -> M:
    """The model in a folder, which must be of a class."""
    model = load_model(folder)
    if not isinstance(model, kind):
        raise ModelFileError(
            f"The model in {folder} is of {type(model).__name__}, not of {kind.__name__}; read it with ncgc.load_model."
        )
    return model


def model_folder(path: str | Path) -> Path:
    """The folder of a model: the one given, or the one inside the run folder given."""
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


def _load(folder: Path) -> NCGC | Method:
    text = _read(folder, ABOUT)
    number = _checked_format(folder, text)
    about = Record(_damage_in(ABOUT, unsealed, text), ABOUT)
    checksums = about.inner("files")
    content = {name: _read(folder, name) for name in FILES[1:]}
    for name, written in content.items():
        if digest(written) != checksums(name, str):
            raise Damage(f"{name} is not the one that belongs to model.json (its checksum does not fit)")
    graph, split = stored_graph(_tensors(content[GRAPH], GRAPH), content[NODES], about.inner("graph"))
    weights = _tensors(content[WEIGHTS], WEIGHTS)
    if number == FORMAT:
        model: NCGC | Method = _stored_ncgc(about, graph, split, weights)
    else:
        model = stored_method(about, graph, split, weights)
    model.extra_ = about("extra", dict)
    return model


def _stored_ncgc(about: Record, graph: Graph, split: Split, weights: dict[str, np.ndarray]) -> NCGC:
    model = NCGC(**stored_parameters(about))
    model.network_ = stored_network(about.inner("network"), weights, graph.num_features, graph.num_classes)
    model.graph_, model.split_ = graph, split
    model.classes_, model.n_features_in_ = graph.classes, graph.num_features
    restore_fit(model, about, weights)
    model._look(GraphOperators(model.scaling_.apply(graph)))
    return model


def _checked_format(folder: Path, text: bytes) -> int:
    """Its format, before anything else is asked of the file: another one may have other entries, and another seal."""
    about = Record(_damage_in(ABOUT, parsed, text), ABOUT)
    number, version = about("format", int), about("ncgc", str)
    if number not in FORMATS:
        newer = "install a newer ncgc" if number > max(FORMATS) else "fit and save it anew"
        raise ModelFileError(
            f"The model in {folder} was made by ncgc {version}, format {number}; this one, {__version__}, reads the formats "
            f"{' and '.join(map(str, FORMATS))}; {newer}."
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
