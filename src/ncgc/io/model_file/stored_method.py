"""A fitted method of ``ncgc.models.registry`` as JSON and arrays, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ncgc.datasets import Split
from ncgc.errors import ModelFileError, ParameterError
from ncgc.graph import Graph
from ncgc.io.model_file.sealed import Damage, Record
from ncgc.io.model_file.stored_fit import (
    ended_facts,
    scaling_arrays,
    stored_calibration,
    stored_history,
    stored_scaling,
)
from ncgc.models.registry import METHODS, Method, find_method
from ncgc.params.parameter import check_parameters

PREFIX = "method."


def method_name(model: Method) -> str:
    """The name of a fitted method in the registry; an error for one whose class no other program would find."""
    name = next((name for name, kind in METHODS.items() if kind is type(model)), None)
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


def method_facts(model: Method) -> dict[str, Any]:
    return {"method": method_name(model), **ended_facts(model)}


def method_arrays(model: Method) -> dict[str, np.ndarray]:
    own = {
        PREFIX + name: np.array(array, order="C") for name, array in model._arrays().items()
    }  # as safetensors needs it
    return own | scaling_arrays(model)


def stored_method(about: Record, graph: Graph, split: Split, arrays: dict[str, np.ndarray]) -> Method:
    """The method that the two functions above were given; Damage where facts and arrays do not fit each other."""
    name = about("method", str)
    try:
        kind = find_method(name)
    except ParameterError:
        raise Damage(f"it is of the method {name!r}, which this version of ncgc does not have") from None
    values = about("parameters", dict)
    check_parameters(values, kind.__name__, kind.PARAMETERS)
    model = kind(**{word: values.get(word, row.before) for word, row in kind.PARAMETERS.items()})
    if not model.inductive:
        raise Damage(f"the method {name!r} has no model")
    own = {word.removeprefix(PREFIX): array for word, array in arrays.items() if word.startswith(PREFIX)}
    try:
        model._restore(graph, split, own)
    except (ValueError, RuntimeError, MemoryError) as error:
        raise Damage(str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    scaling = stored_scaling(about("scaling", str), arrays, graph.num_features)
    model.scaling_ = scaling  # every inductive method has one
    ended = {
        "history": stored_history(about("history", list)),
        "best_epoch": about("best_epoch", int),
        "termination": about("termination", str),
    }
    model._take(graph, split, replace(model._elsewhere(graph), **ended))
    model.seconds_ = float(about("seconds", float))
    model.calibration_ = stored_calibration(about("calibration", dict, None))
    return model
