"""The hyper-parameters that a person did not give: those of named settings for the backbone at hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ncgc.params.parameter import DEFAULTS, PARAMETERS
from ncgc.params.presets import preset

SETTINGS = "default"
BACKBONES = PARAMETERS["backbone"].choices


def recommended(given: Mapping[str, Any], dataset: str = "", settings: str = SETTINGS) -> dict[str, Any]:
    """What the settings say for the backbone that was given, without what was given itself.

    ``dataset`` matters to settings that have a table for each. The number of heads is lowered where it would not divide
    the width that was given.

    >>> recommended({"backbone": "appnp"}), recommended({}), recommended({"backbone": "gat", "hidden": 12})
    ({'num_layers': 1}, {}, {'heads': 4})
    """
    values = preset(settings, given.get("backbone", DEFAULTS["backbone"]), dataset)
    added = {name: value for name, value in values.items() if name not in given and name != "backbone"}
    if "heads" in added:
        added["heads"] = math.gcd(added["heads"], {**DEFAULTS, **values, **given}["hidden"])
    return added


def exceptions(name: str) -> dict[str, Any]:
    """By backbone, the value that `recommended` has for a parameter where it is not the parameter's default.

    >>> exceptions("num_layers")
    {'gcnii': 8, 'appnp': 1}
    """
    default = DEFAULTS[name]
    found = {backbone: recommended({"backbone": backbone}).get(name, default) for backbone in BACKBONES}
    return {backbone: value for backbone, value in found.items() if value != default}
