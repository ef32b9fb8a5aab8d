"""Named settings: recommended hyper-parameters in TOML files of ``settings/``.

NCGC has one file for each set of settings (default, tuned, paper):

    [common]            for every backbone and data set
    [gcn]               for one backbone
    hidden = 64
    [gcn.cora]          for one backbone on one data set
    beta = 0.003

The narrower table wins. Settings without tables for data sets hold for all of them.

Every other method has a file in ``settings/methods/``: a table [common], one for each data set, and between them [large], for the
Amazon and Coauthor graphs, where few authors give settings and runs are long, and [amazon], for Photo and Computers, whose
features are dense.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from numbers import Integral
from typing import Any

from ncgc.errors import ParameterError
from ncgc.params.ncgc import BACKBONES, DEFAULTS, NCGC_PARAMETERS
from ncgc.params.parameter import Parameter, check_parameters, unknown_name

AMAZON = ("photo", "computers")
GROUPS = {"large": (*AMAZON, "cs", "physics"), "amazon": AMAZON}  # tables for several data sets
DEFAULT_PRESET = "default"
PLAIN = {"soft_orthogonality": False, "kl": False, "pl": False}  # NCGC without its three parts: the backbone alone
_REMEDY = "give the hyper-parameters one by one."


def preset(name: str, backbone: str, dataset: str) -> dict[str, Any]:
    """Hyper-parameters that named settings give to NCGC with a backbone on a data set.

    Args:
        name: a file of ``settings/`` without its ending: "default", "tuned" or "paper".
        backbone: one of :data:`BACKBONES`.
        dataset: matters to settings that have a table for each data set.

    Returns:
        The settings by parameter name, ``backbone`` among them.

    Raises:
        ParameterError: no such settings, or nothing in them for this backbone or data set.

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
    values = _with_none({"backbone": backbone, **tables.get("common", {}), **shared, **by_dataset.get(dataset, {})})
    check_parameters(values, f"settings/{name}.toml", NCGC_PARAMETERS)
    return values


def recipe(given: Mapping[str, Any], dataset: str = "", name: str = DEFAULT_PRESET) -> dict[str, Any]:
    """NCGC's recommended hyper-parameters for the backbone in ``given``, without those in ``given``.

    The number of heads is lowered where it would not divide the given width.

    Args:
        given: hyper-parameters that are already set. A backbone that is a function, or unknown, has no recipe.
        dataset: matters to settings that have a table for each data set.
        name: which settings to take, see :func:`preset`.

    Returns:
        Only what the settings add; empty for the default GCN.

    >>> recipe({"backbone": "appnp"}), recipe({}), recipe({"backbone": "gat", "hidden": 12})
    ({'num_layers': 1}, {}, {'heads': 4})
    """
    backbone = given.get("backbone", DEFAULTS["backbone"])
    if not isinstance(backbone, str) or backbone not in BACKBONES:
        return {}
    values = preset(name, backbone, dataset)
    added = {key: value for key, value in values.items() if key not in given and key != "backbone"}
    hidden = {**DEFAULTS, **values, **given}["hidden"]
    if "heads" in added and isinstance(hidden, Integral):  # a wrong width is for the check to refuse
        added["heads"] = math.gcd(added["heads"], int(hidden))
    return added


def other_defaults(name: str) -> dict[str, Any]:
    """Defaults of a parameter that depend on the backbone.

    Args:
        name: the parameter, one of NCGC's.

    Returns:
        The value for each backbone whose recipe differs from the parameter's own default.

    >>> other_defaults("num_layers")
    {'gcnii': 8, 'appnp': 1}
    """
    found = {backbone: recipe({"backbone": backbone}).get(name, DEFAULTS[name]) for backbone in BACKBONES}
    return {backbone: value for backbone, value in found.items() if value != DEFAULTS[name]}


def method_preset(
    method: str, dataset: str | None = None, known: Mapping[str, Parameter] | None = None
) -> dict[str, Any]:
    """Hyper-parameters of a method other than NCGC: those of its authors where they are known.

    Args:
        method: the name of the method, which is that of its file.
        dataset: the data set, or None for what holds on any graph.
        known: the method's parameter table; with it every value is checked.

    Returns:
        The recommended values by parameter name; empty for a method without a settings file.

    >>> method_preset("gcn", "cora")["hidden"]
    16
    """
    tables = method_tables(method)
    groups = [group for group, members in GROUPS.items() if dataset in members]
    chosen = ["common", *groups, *([dataset] if dataset else [])]
    values = _with_none({key: value for table in chosen for key, value in tables.get(table, {}).items()})
    if known is not None:
        check_parameters(values, f"settings/methods/{method}.toml", known)
    return values


def method_tables(method: str) -> dict[str, dict[str, Any]]:
    """Read the settings file of a method.

    Args:
        method: its name, which is that of the file.

    Returns:
        The tables of the file by name; empty for a method without a file.
    """
    path = files("ncgc.params") / "settings" / "methods" / f"{method}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _with_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """TOML has no null, so the files write "none"."""
    return {key: None if value == "none" else value for key, value in values.items()}


@cache
def _tables(name: str) -> dict[str, Any]:
    folder = files("ncgc.params") / "settings"
    known = sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))
    if name not in known:
        raise ParameterError(unknown_name(name, known, "settings"))
    return tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
