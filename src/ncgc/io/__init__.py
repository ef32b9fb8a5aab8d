"""Tables, files and graphs of other libraries in, Graph out; predictions out as tables; models to files and back."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncgc.io.formats.convert import as_graph
    from ncgc.io.formats.graphml import read_graphml, write_graphml
    from ncgc.io.formats.networkx import from_networkx, read_networkx, to_networkx
    from ncgc.io.formats.pyg import from_pyg, to_pyg
    from ncgc.io.predictions import predictions_frame, write_predictions
    from ncgc.io.tables.feature_encoder import FeatureEncoder
    from ncgc.io.tables.labels import read_split
    from ncgc.io.tables.new_nodes import attach_nodes
    from ncgc.io.tables.read_graph import GraphTables, TableSchema, read_graph
    from ncgc.io.tables.spectral import spectral_features

__all__ = [
    "FeatureEncoder",
    "GraphTables",
    "TableSchema",
    "as_graph",
    "attach_nodes",
    "from_networkx",
    "from_pyg",
    "predictions_frame",
    "read_graph",
    "read_graphml",
    "read_networkx",
    "read_split",
    "spectral_features",
    "to_networkx",
    "to_pyg",
    "write_graphml",
    "write_predictions",
]

# Imported at first use, so that loading a model need not wait for pandas and pyarrow.
_HOMES = {
    "FeatureEncoder": "tables.feature_encoder",
    "GraphTables": "tables.read_graph",
    "TableSchema": "tables.read_graph",
    "as_graph": "formats.convert",
    "attach_nodes": "tables.new_nodes",
    "from_networkx": "formats.networkx",
    "from_pyg": "formats.pyg",
    "predictions_frame": "predictions",
    "read_graph": "tables.read_graph",
    "read_graphml": "formats.graphml",
    "read_networkx": "formats.networkx",
    "read_split": "tables.labels",
    "spectral_features": "tables.spectral",
    "to_networkx": "formats.networkx",
    "to_pyg": "formats.pyg",
    "write_graphml": "formats.graphml",
    "write_predictions": "predictions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ncgc.io' has no attribute {name!r}")
    value = getattr(import_module(f"ncgc.io.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
