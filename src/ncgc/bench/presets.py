"""Named settings, one TOML a method in ``settings/``: a table of hyper-parameters by backbone and data set."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from ncgc.errors import ParameterError
from ncgc.parameters import check_parameters, unknown_name


def preset(name: str, backbone: str, dataset: str) -> dict[str, Any]:
    """The hyper-parameters that settings ``name`` give to a backbone on a data set.

    >>> preset("paper", "gcn", "cora")["hidden"]
    512
    """
    folder = files("ncgc.bench") / "settings"
    known = sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml"))
    if name not in known:
        raise ParameterError(unknown_name(name, known, "settings"))
    tables = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    common = tables.pop("common", {})
    for key, what in ((backbone, "backbone"), (dataset, "data set")):
        tables = tables.get(key, {})
        if not tables:
            raise ParameterError(
                f"The settings '{name}' have nothing for the {what} {key!r}; give the hyper-parameters one by one."
            )
    values = {"backbone": backbone, **common, **tables}
    check_parameters(values, f"settings/{name}.toml")
    return values
