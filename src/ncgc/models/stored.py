"""A fitted classifier as a model file, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from ncgc.errors import ModelFileError, NCGCError, ParameterError
from ncgc.evaluation.calibration import Calibration
from ncgc.graph.features import ROWS, FeatureNormalizer
from ncgc.io.model_file.folder import ModelRecord, model_folder, read_model, write_model
from ncgc.io.model_file.sealed import Damage, Record, plain
from ncgc.models.base import NodeClassifier
from ncgc.models.registry import CLASSIFIERS, find_classifier
from ncgc.params.parameter import check_parameters
from ncgc.training.history import History

PREFIX = "model."  # what the names of a classifier's own arrays begin with
MEAN = "normalizer.mean"
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # which JSON has no numbers for


# -------------------------------------------------------------------- writing


def save_model(
    model: NodeClassifier, folder: str | Path, *, extra: Mapping[str, Any] | None = None, overwrite: bool = False
) -> None:
    """Write a fitted classifier to a folder, whole or not at all.

    Args:
        model: fitted; one that can label nodes it has not seen.
        folder: new or empty; with ``overwrite`` also one that holds a model, which then makes way.
        extra: anything JSON takes, found again as ``extra_``; default: that of the file the model came from.
        overwrite: whether a model that is there is replaced.

    Raises:
        ModelFileError: if the model cannot be kept in a file.
    """
    if not hasattr(model, "graph_"):
        raise NotFittedError(f"This {type(model).__name__} is not fitted yet; call fit(graph, split) before save.")
    name = _name_of(model)
    try:
        own = model._arrays()
    except ValueError as error:
        raise ModelFileError(str(error)) from None
    about = {
        "method": name,
        "parameters": {word: plain(value) for word, value in model.get_params(deep=False).items()},
        "normalizer": model.normalizer_.kind,
        "best_epoch": int(model.best_epoch_),
        "termination": model.termination_,
        "seconds": float(model.seconds_),
        "seeds": {word: int(seed) for word, seed in model.seeds_.items()},
        "history": [{word: _number(value) for word, value in row.items()} for row in model.history_],
        "calibration": None if model.calibration_ is None else model.calibration_.to_dict(),
        "details": model._details(),
        "extra": model.extra_ if extra is None else extra,
    }
    arrays = {PREFIX + word: array for word, array in own.items()}
    arrays |= {} if model.normalizer_.mean is None else {MEAN: model.normalizer_.mean}
    write_model(folder, about, arrays, model.graph_, model.split_, overwrite=overwrite)


def _name_of(model: NodeClassifier) -> str:
    """Its name in the registry; an error for a class that no other program would find, or that has no model."""
    name = next((name for name, kind in CLASSIFIERS.items() if kind is type(model)), None)
    if name is None:
        raise ModelFileError(
            f"{type(model).__name__} is a class of yours, which cannot be kept in a file; use the model in the program that "
            "made it, or put its file into ncgc/models/baselines."
        )
    if not model.inductive:
        raise ModelFileError(
            f"{type(model).__name__} labels the nodes of the graph that it is fitted on and no others: there is no model to "
            "keep; keep its labels."
        )
    return name


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(float(value))


# -------------------------------------------------------------------- reading


@dataclass(frozen=True, eq=False)
class _Parts:
    """Where the formats differ: the method, how features were normalised, its own arrays and details, and the seeds."""

    method: str
    normalizer: str
    arrays: dict[str, np.ndarray]
    mean: np.ndarray | None
    details: dict[str, Any]
    seeds: dict[str, int]


def load_model(folder: str | Path) -> NodeClassifier:
    """Read a fitted classifier.

    Args:
        folder: that of a model, or of a run that has one.

    Returns:
        The classifier as it was when it was saved; what was kept beside it is its ``extra_``.

    Raises:
        ModelFileError: one sentence on what is missing, damaged or of another version.
    """
    folder = model_folder(folder)
    try:
        return _restored(read_model(folder))
    except ModelFileError:
        raise
    except (Damage, NCGCError) as error:
        reason = str(error).rstrip(".")
        raise ModelFileError(
            f"The model in {folder} cannot be read: {reason}; copy it again, or fit and save it anew."
        ) from None


def _restored(record: ModelRecord) -> NodeClassifier:
    about, graph, split = record.about, record.graph, record.split
    parts = _PARTS[record.format](about, record.arrays)
    try:
        kind = find_classifier(parts.method)
    except ParameterError:
        raise Damage(f"it is of the method {parts.method!r}, which this version of ncgc does not have") from None
    values = kind.renamed(about("parameters", dict))
    check_parameters(values, kind.__name__, kind.PARAMETERS)
    model = kind(**{name: values.get(name, row.before) for name, row in kind.PARAMETERS.items()})
    if not model.inductive:
        raise Damage(f"the method {parts.method!r} has no model")
    try:
        model._restore(graph, split, parts.arrays, parts.details)
    except (ValueError, RuntimeError, MemoryError) as error:
        raise Damage(str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    model.normalizer_ = _normalizer(parts, graph.num_features)
    ended = {
        "history": _history(about("history", list)),
        "best_epoch": about("best_epoch", int),
        "termination": about("termination", str),
    }
    model.seconds_ = float(about("seconds", float))
    model.seeds_ = parts.seeds
    model.calibration_ = _calibration(about("calibration", dict, None))
    model.extra_ = about("extra", dict)
    model._remember(graph, split, replace(model._predict_other(graph), **ended))
    return model


def _format_1(about: Record, arrays: dict[str, np.ndarray]) -> _Parts:
    """NCGC's own format, before there was one for all."""
    own = {name: array for name, array in arrays.items() if name != "scaling.mean"}
    details = {"network": about("network", dict)}
    return _Parts("ncgc", about("scaling", str), own, arrays.get("scaling.mean"), details, _seeds(about))


def _format_2(about: Record, arrays: dict[str, np.ndarray]) -> _Parts:
    """That of all other methods then."""
    own = {name.removeprefix("method."): array for name, array in arrays.items() if name.startswith("method.")}
    return _Parts(about("method", str), about("scaling", str), own, arrays.get("scaling.mean"), {}, {})


def _format_3(about: Record, arrays: dict[str, np.ndarray]) -> _Parts:
    own = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
    method, kind, details = about("method", str), about("normalizer", str), about("details", dict)
    return _Parts(method, kind, own, arrays.get(MEAN), details, _seeds(about))


_PARTS = {1: _format_1, 2: _format_2, 3: _format_3}


def _seeds(about: Record) -> dict[str, int]:
    seeds = about.inner("seeds")
    return {name: seeds(name, int) for name in seeds.values}


def _normalizer(parts: _Parts, width: int) -> FeatureNormalizer:
    if parts.normalizer not in ROWS:
        raise Damage(f"model.json has the unknown normalizer {parts.normalizer!r}")
    mean = parts.mean
    if mean is not None and (mean.dtype != np.float32 or mean.shape != (width,)):
        raise Damage(f"the mean of the features has the type {mean.dtype} and the shape {mean.shape}, not {(width,)}")
    return FeatureNormalizer(parts.normalizer, None if mean is None else mean.copy())


def _history(rows: list[Any]) -> History:
    history = History()
    for row in rows:
        if not isinstance(row, dict) or "epoch" not in row:
            raise Damage(f"a row of its history does not hold together ({str(row)[:40]})")
        history.append(**{name: _stored_number(value) for name, value in row.items()})
    return history


def _stored_number(value: Any) -> float:
    if isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Damage(f"a number of its history is {str(value)[:40]!r}")
    return value


def _calibration(values: dict[str, Any] | None) -> Calibration | None:
    if values is None:
        return None
    try:
        return Calibration.from_dict(values)
    except (KeyError, TypeError, ValueError) as error:
        raise Damage(f"its calibration does not hold together ({error})") from None
