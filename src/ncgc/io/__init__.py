"""Tables, files and graphs of other libraries in, Graph out; predictions out as tables."""

from ncgc.io.formats.convert import as_graph
from ncgc.io.formats.graphml import read_graphml, write_graphml
from ncgc.io.formats.networkx import from_networkx, to_networkx
from ncgc.io.formats.pyg import from_pyg, to_pyg
from ncgc.io.predictions import predictions_frame, write_predictions
from ncgc.io.tables.feature_encoder import FeatureEncoder
from ncgc.io.tables.read_graph import GraphTables, read_graph
from ncgc.io.tables.spectral import spectral_features

__all__ = [
    "FeatureEncoder",
    "GraphTables",
    "as_graph",
    "from_networkx",
    "from_pyg",
    "predictions_frame",
    "read_graph",
    "read_graphml",
    "spectral_features",
    "to_networkx",
    "to_pyg",
    "write_graphml",
    "write_predictions",
]
