"""The methods NCGC is compared with: one file each, one contract for all, found by name.

The contract is the estimator's: ``fit(graph, split)``, ``predict()``, ``predict_proba()``, ``score()``, ``transduction_``.
"""

from ncgc.errors import ParameterError
from ncgc.methods.label_spreading import LabelSpreading
from ncgc.methods.transductive import Transductive
from ncgc.parameters import unknown_name

METHODS: dict[str, type[Transductive]] = {"label_spreading": LabelSpreading}

__all__ = ["METHODS", "LabelSpreading", "Transductive", "find_method"]


def find_method(name: str) -> type[Transductive]:
    """The class of the method called ``name``.

    >>> find_method("label_spreading").__name__
    'LabelSpreading'
    """
    if name not in METHODS:
        raise ParameterError(unknown_name(name, METHODS, "method"))
    return METHODS[name]
