"""Label the rest of a graph from a few labels.

Every classifier can be imported by its class name: ``from ncgc import NCGC, GRAND, APPNP``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ncgc.version import __version__ as __version__

if TYPE_CHECKING:
    from ncgc.datasets import Split, load_dataset, make_split
    from ncgc.graph import Graph
    from ncgc.io import as_graph, read_graph
    from ncgc.losses import sinkhorn
    from ncgc.models.base import NodeClassifier
    from ncgc.models.ncgc import NCGC
    from ncgc.models.stored import load_model
    from ncgc.nn import SOGN, SoftOrthogonal

# Imported at first use, so that `ncgc --help` need not wait for torch.
_HOMES = {
    "NCGC": "models.ncgc",
    "SOGN": "nn",
    "Graph": "graph",
    "NodeClassifier": "models.base",
    "SoftOrthogonal": "nn",
    "as_graph": "io",
    "read_graph": "io",
    "Split": "datasets",
    "load_dataset": "datasets",
    "load_model": "models.stored",
    "make_split": "datasets",
    "sinkhorn": "losses",
}
__all__ = ["NCGC", "SOGN", "Graph", "NodeClassifier", "SoftOrthogonal", "Split", "as_graph", "load_dataset", "load_model", "make_split", "read_graph", "sinkhorn"]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"ncgc.{_HOMES[name]}"), name)
    elif not name.startswith("_") and name in _classifiers():
        value = _classifiers()[name]
    else:
        raise AttributeError(f"module 'ncgc' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_classifiers()})


def _classifiers() -> dict[str, Any]:
    """Every classifier by the name of its class."""
    from ncgc.models.registry import CLASSIFIERS

    return {kind.__name__: kind for kind in CLASSIFIERS.values()}
