"""Tables and files in, Graph out; predictions out as tables."""

from ncgc.io.formats.graphml import read_graphml
from ncgc.io.predictions import predictions_frame, write_predictions
from ncgc.io.tables.assemble import GraphTables, read_graph
from ncgc.io.tables.features import FeatureEncoder
from ncgc.io.tables.structure import spectral_features

__all__ = [
    "FeatureEncoder",
    "GraphTables",
    "predictions_frame",
    "read_graph",
    "read_graphml",
    "spectral_features",
    "write_predictions",
]
