"""Named settings, one TOML a method in ``settings/``: hyper-parameters for all, by backbone, and by data set.

    [common]            for every backbone and data set
    [gcn]               for one backbone
    hidden = 64
    [gcn.cora]          for one backbone on one data set
    beta = 0.003

The narrower wins. Settings without any table for a data set are for all data sets.

The methods NCGC is compared with have a file each in ``settings/methods/``: a table [common], one a data set, and between them
[large], for the Amazon and Coauthor graphs, where few authors give settings and runs are long, and [amazon], for Photo and
Computers, whose features are dense.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from ncgc.errors import ParameterError
from ncgc.params.parameter import check_parameters, unknown_name

AMAZON = ("photo", "computers")
GROUPS = {"large": (*AMAZON, "cs", "physics"), "amazon": AMAZON}  # tables for several data sets


def preset(name: str, backbone: str, dataset: str) -> dict[str, Any]:
    """The hyper-parameters that settings ``name`` give to a backbone on a data set.

    >>> preset("paper", "gcn", "cora")["hidden"]
    512
    """
    tables = _tables(name)
    if backbone not in tables:
        raise ParameterError(f"The settings '{name}' have nothing for the backbone {backbone!r}; {_REMEDY}")
    own = tables[backbone]
    by_dataset = {key: value for key, value in own.items() if isinstance(value, dict)}
    if by_dataset and dataset not in by_dataset:
        raise ParameterError(f"The settings '{name}' have nothing for the data set {dataset!r}; {_REMEDY}")
    shared = {key: value for key, value in own.items() if not isinstance(value, dict)}
    values = {"backbone": backbone, **tables.get("common", {}), **shared, **by_dataset.get(dataset, {})}
    # TOML has no none
    values = {key: None if value == "none" else value for key, value in values.items()}
    check_parameters(values, f"settings/{name}.toml")
    return values


def method_preset(method: str, dataset: str | None = None) -> dict[str, Any]:
    """The hyper-parameters of a method of ``ncgc.models.registry`` on a data set, or on any: those of its authors where they are known.

    >>> method_preset("gcn", "cora")["hidden"]
    16
    """
    from ncgc.models.registry import find_method  # torch comes with it

    kind = find_method(method)
    tables = method_tables(method)
    groups = [group for group, members in GROUPS.items() if dataset in members]
    chosen = ["common", *groups, *([dataset] if dataset else [])]
    values = {key: value for table in chosen for key, value in tables.get(table, {}).items()}
    values = {key: None if value == "none" else value for key, value in values.items()}
    check_parameters(values, f"settings/methods/{method}.toml", kind.PARAMETERS)
    return values


def method_tables(method: str) -> dict[str, dict[str, Any]]:
    """The tables of a method's file as they stand there, by name; none where it has no file."""
    path = files("ncgc.params") / "settings" / "methods" / f"{method}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


_REMEDY = "give the hyper-parameters one by one."


@cache
def _tables(name: str) -> dict[str, Any]:
    folder = files("ncgc.params") / "settings"
    known = sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))
    if name not in known:
        raise ParameterError(unknown_name(name, known, "settings"))
    return tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
