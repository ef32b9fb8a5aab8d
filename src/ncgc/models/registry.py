"""Every classifier by name: NCGC and those of ``baselines``. docs/adding-a-method.md shows how to add one."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from ncgc.errors import ParameterError
from ncgc.models import baselines, ncgc
from ncgc.models.base import FAMILIES, NodeClassifier
from ncgc.params.parameter import unknown_name


def _defined_in(module: ModuleType) -> type[NodeClassifier] | None:
    """The class of a module that has a title of its own."""
    for value in vars(module).values():
        own = getattr(value, "__module__", "") == module.__name__
        if own and isinstance(value, type) and issubclass(value, NodeClassifier) and "title" in vars(value):
            return value
    return None


def _found(modules: Iterable[ModuleType]) -> dict[str, type[NodeClassifier]]:
    """The classifiers of these modules under the names of their files; by family, then by name."""
    kinds = {module.__name__.rpartition(".")[2]: _defined_in(module) for module in modules}
    known = {name: kind for name, kind in kinds.items() if kind is not None}
    return dict(sorted(known.items(), key=lambda pair: (FAMILIES.index(pair[1].family), pair[0])))


_FILES = [import_module(f"{baselines.__name__}.{file.name}") for file in pkgutil.iter_modules(baselines.__path__)]
BASELINES = _found(_FILES)  # what NCGC is compared with
CLASSIFIERS = _found([*_FILES, ncgc])


def find_classifier(name: str) -> type[NodeClassifier]:
    """The classifier of a name.

    Args:
        name: as ``ncgc methods`` lists it, such as "grand".

    Returns:
        The class.

    Raises:
        ParameterError: with the nearest name, for an unknown one.

    >>> find_classifier("label_spreading").__name__
    'LabelSpreading'
    """
    if name not in CLASSIFIERS:
        raise ParameterError(unknown_name(name, CLASSIFIERS, "method"))
    return CLASSIFIERS[name]


def settings_for(
    name: str, dataset: str | None = None, given: Mapping[str, Any] | None = None, preset: str = "default"
) -> dict[str, Any]:
    """The recommended hyper-parameters of a classifier that are not given.

    Args:
        name: of the classifier.
        dataset: a data set whose settings are known; None: what holds on any graph.
        given: hyper-parameters that were given; the backbone among them decides NCGC's.
        preset: which of the named settings, where a classifier has several.

    Returns:
        Hyper-parameters by name.

    >>> settings_for("gcn", "cora")["hidden"], settings_for("ncgc", given={"backbone": "gcnii"})["num_layers"]
    (16, 8)
    """
    return find_classifier(name).recommended(name, dataset, {} if given is None else given, preset)
