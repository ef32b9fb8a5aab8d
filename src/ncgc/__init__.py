"""Label the rest of a graph from a few labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncgc.datasets import Split, load_dataset, make_split
    from ncgc.graph import Graph
    from ncgc.io.model_file.model_file import load_model
    from ncgc.losses import sinkhorn
    from ncgc.models.ncgc import NCGC
    from ncgc.nn import SOGN, SoftOrthogonal

__version__ = "0.1.0"
__all__ = ["NCGC", "SOGN", "Graph", "SoftOrthogonal", "Split", "load_dataset", "load_model", "make_split", "sinkhorn"]

# Imported at first use, so that `ncgc --help` need not wait for torch.
_HOMES = {
    "NCGC": "models.ncgc",
    "SOGN": "nn",
    "Graph": "graph",
    "SoftOrthogonal": "nn",
    "Split": "datasets",
    "load_dataset": "datasets",
    "load_model": "io.model_file.model_file",
    "make_split": "datasets",
    "sinkhorn": "losses",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ncgc' has no attribute {name!r}")
    value = getattr(import_module(f"ncgc.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
