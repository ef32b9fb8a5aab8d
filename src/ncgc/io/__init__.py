"""Tables and files in, Graph out; predictions out as tables."""

from ncgc.io.assemble import GraphTables, read_graph
from ncgc.io.features import FeatureEncoder
from ncgc.io.graphml import read_graphml
from ncgc.io.predictions import predictions_frame, write_predictions
from ncgc.io.structure import spectral_features

__all__ = [
    "FeatureEncoder",
    "GraphTables",
    "predictions_frame",
    "read_graph",
    "read_graphml",
    "spectral_features",
    "write_predictions",
]
