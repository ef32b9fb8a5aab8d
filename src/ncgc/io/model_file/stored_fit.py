"""What a fit was given and what became of it, beside the network: parameters, scaling, history, calibration; as JSON and arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ncgc.evaluation.calibration import Calibration
from ncgc.graph.features import ROWS, FeatureNormalizer
from ncgc.io.model_file.sealed import Damage, Record, plain
from ncgc.models.ncgc import NCGC
from ncgc.params.parameter import PARAMETERS, check_parameters
from ncgc.training.history import History

NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # which JSON has no numbers for


def ended_facts(model: Any) -> dict[str, Any]:
    """What every fitted model has: parameters, scaling, and how training went."""
    return {
        "parameters": {name: plain(value) for name, value in model.get_params(deep=False).items()},
        "scaling": model.scaling_.kind,
        "best_epoch": int(model.best_epoch_),
        "termination": model.termination_,
        "seconds": float(model.seconds_),
        "history": [{name: _number(value) for name, value in row.items()} for row in model.history_],
        "calibration": None if model.calibration_ is None else model.calibration_.to_dict(),
    }


def fit_facts(model: NCGC) -> dict[str, Any]:
    return {**ended_facts(model), "seeds": {name: int(seed) for name, seed in model.seeds_.items()}}


def scaling_arrays(model: Any) -> dict[str, np.ndarray]:
    """The mean of the features, where it is taken off."""
    return {} if model.scaling_.mean is None else {"scaling.mean": model.scaling_.mean}


def fit_arrays(model: NCGC) -> dict[str, np.ndarray]:
    """The class shares, and where there are some the centroids and the mean of the features."""
    arrays = {"prior": np.asarray(model.prior_), **scaling_arrays(model)}
    if model.centroids_ is not None:
        arrays["centroids"] = model.centroids_.detach().contiguous().numpy()
    return arrays


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(float(value))


# -------------------------------------------------------------------- reading


def stored_parameters(about: Record) -> dict[str, Any]:
    """Every parameter; one that was born after the model was saved is what was done before it."""
    values = about("parameters", dict)
    check_parameters(values)
    return {name: values.get(name, parameter.before) for name, parameter in PARAMETERS.items()}


def restore_fit(model: NCGC, about: Record, arrays: dict[str, np.ndarray]) -> None:
    """Set the fitted attributes; the model has its network, graph and split already."""
    classes, network = len(model.classes_), model.network_
    model.scaling_ = stored_scaling(about("scaling", str), arrays, model.n_features_in_)
    width = classes if network.decoupled else network.hidden
    centroids = _array(arrays, "centroids", np.float32, (classes, width))
    model.centroids_ = None if centroids is None else torch.from_numpy(centroids)
    prior = _array(arrays, "prior", np.float64, (classes,))
    if prior is None:
        raise Damage("weights.safetensors has no tensor 'prior'")
    model.prior_ = prior
    model.best_epoch_, model.termination_ = about("best_epoch", int), about("termination", str)
    model.seconds_ = float(about("seconds", float))
    seeds = about.inner("seeds")
    model.seeds_ = {name: seeds(name, int) for name in seeds.values}
    model.history_ = stored_history(about("history", list))
    model.calibration_ = stored_calibration(about("calibration", dict, None))


def _array(
    arrays: dict[str, np.ndarray], name: str, kind: type[np.generic], shape: tuple[int, ...]
) -> np.ndarray | None:
    array = arrays.get(name)
    if array is not None and (array.dtype != kind or array.shape != shape):
        raise Damage(f"the tensor {name!r} has the type {array.dtype} and the shape {array.shape}, not {shape}")
    return None if array is None else array.copy()


def stored_scaling(kind: str, arrays: dict[str, np.ndarray], width: int) -> FeatureNormalizer:
    if kind not in ROWS:
        raise Damage(f"model.json has the unknown scaling {kind!r}")
    return FeatureNormalizer(kind, _array(arrays, "scaling.mean", np.float32, (width,)))


def stored_history(rows: list[Any]) -> History:
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


def stored_calibration(values: dict[str, Any] | None) -> Calibration | None:
    if values is None:
        return None
    try:
        return Calibration.from_dict(values)
    except (KeyError, TypeError, ValueError) as error:
        raise Damage(f"its calibration does not hold together ({error})") from None
