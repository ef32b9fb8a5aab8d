"""Reading the settings of a run from TOML; ``RunSpec.to_toml`` writes them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ncgc.datasets.catalogue import find_info
from ncgc.errors import NCGCError, ParameterError
from ncgc.params.parameter import Parameter, unknown_name
from ncgc.runs.source import RUN_SETTINGS, DatasetSource, TableSource, Text
from ncgc.runs.spec import AUTO, DEFAULT_METHOD, owner_of, parameters_of, unknown_parameter

RECORDED = ("version", "drawn")  # keys that are written for the record and skipped when read


def read_settings(path: str | Path, kind: type[DatasetSource | TableSource]) -> dict[str, Any]:
    """Read the settings of a run from a TOML file and check each; those that the file leaves out are left out.

    Files of earlier versions are read too: the backbone at the top, and parameters by the names they had.

    Args:
        path: the file.
        kind: whether the run is on a data set or on tables.

    Returns:
        Settings by name, ``parameters`` among them.

    Raises:
        ParameterError: with the file, the key and what would be right.
    """
    table = _read_toml(Path(path))
    parameters = table.pop("parameters", {})
    if not isinstance(parameters, dict):
        raise ParameterError(f"{path}: 'parameters' must be a table. Got {parameters!r} instead.")
    try:
        return _read(table, parameters, kind)
    except NCGCError as error:
        raise ParameterError(f"{path}: {error}") from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(f"{path} cannot be read ({error.strerror or error}).") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{path} cannot be read as UTF-8 text; give a TOML file.") from None
    except ValueError as error:
        raise ParameterError(f"{path} is not valid TOML: {error}.") from None


def _read(table: dict[str, Any], parameters: dict[str, Any], kind: type[DatasetSource | TableSource]) -> dict[str, Any]:
    method = table.get("method", DEFAULT_METHOD)
    if not isinstance(method, str):
        raise ParameterError(f"the key 'method' must be a name. Got {method!r} instead.")
    hyper = parameters_of(method)
    if "backbone" in table and "backbone" in hyper:  # where earlier versions wrote it
        parameters = {"backbone": table.pop("backbone"), **parameters}
    rows = kind.settings | {name: RUN_SETTINGS[name] for name in kind.run_settings}
    top = [*(("dataset",) if kind is DatasetSource else ()), *rows, "method"]
    settings: dict[str, Any] = {}
    for name, value in table.items():
        if name in RECORDED:
            continue
        if name not in top:
            misplaced = f"the key {name!r} belongs in the table [parameters]."
            known = [*top, "parameters", *hyper]
            raise ParameterError(misplaced if name in hyper else unknown_name(name, known, "key"))
        settings[name] = from_word(rows.get(name), value)
        if name in rows:
            rows[name].check(settings[name], kind.command)
        elif name == "dataset":
            find_info(value)
    return {**settings, "parameters": _read_parameters(parameters, method, top)}


def _read_parameters(parameters: dict[str, Any], method: str, top: Sequence[str]) -> dict[str, Any]:
    hyper = parameters_of(method)
    former = {row.former_name: name for name, row in hyper.items() if row.former_name}
    values: dict[str, Any] = {}
    for written, value in parameters.items():
        name = former.get(written, written)
        if name == "random_state":
            raise ParameterError("the key 'random_state' is called 'seed' and belongs at the top.")
        if name in top and name not in hyper:
            raise ParameterError(f"the key {name!r} belongs at the top, before [parameters].")
        if name not in hyper:
            raise ParameterError(
                unknown_parameter(name, method) if method == AUTO else unknown_name(name, [*hyper, *top], "key")
            )
        value = tuple(value) if isinstance(value, list) else from_word(hyper[name], value)
        hyper[name].check(value, owner_of(method))
        values[name] = value
    return values


def from_word(parameter: Parameter | None, value: Any) -> Any:
    """Read the word "none" as None where a parameter may be None; in a setting of any text it stays a word.

    Args:
        parameter: the declared parameter; None for a key without one.
        value: as written.

    Returns:
        None, or the value unchanged.
    """
    if parameter is None or not parameter.optional or isinstance(parameter, Text) or not isinstance(value, str):
        return value
    return None if value.strip().lower() == "none" else value
