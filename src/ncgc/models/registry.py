"""The methods NCGC is compared with: one file each, one contract for all, found by the name of the file.

The contract is the estimator's: ``fit(graph, split)``, ``predict()``, ``predict_proba()``, ``score()``, ``transduction_``,
and ``transform()`` where there are embeddings. docs/adding-a-method.md shows how to write one.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from ncgc.errors import ParameterError
from ncgc.models import baselines
from ncgc.models.base import FAMILIES, Method, Solution
from ncgc.models.baselines.label_spreading import LabelSpreading
from ncgc.models.network_classifier import Learned, Task
from ncgc.models.transductive import Transductive
from ncgc.params.parameter import unknown_name

__all__ = [
    "FAMILIES",
    "METHODS",
    "LabelSpreading",
    "Learned",
    "Method",
    "Solution",
    "Task",
    "Transductive",
    "find_method",
]


def _found() -> dict[str, type[Method]]:
    """Every class in this folder that has a title, under the name of its file; by family, then by name."""
    methods = {}
    for module in pkgutil.iter_modules(baselines.__path__):
        for value in vars(import_module(f"{baselines.__name__}.{module.name}")).values():
            own = getattr(value, "__module__", "") == f"{baselines.__name__}.{module.name}"
            if own and isinstance(value, type) and issubclass(value, Method) and "title" in vars(value):
                methods[module.name] = value
    return dict(sorted(methods.items(), key=lambda pair: (FAMILIES.index(pair[1].family), pair[0])))


METHODS = _found()


def find_method(name: str) -> type[Method]:
    """The class of the method called ``name``.

    >>> find_method("label_spreading").__name__
    'LabelSpreading'
    """
    if name not in METHODS:
        raise ParameterError(unknown_name(name, METHODS, "method"))
    return METHODS[name]
