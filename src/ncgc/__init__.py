"""Label the rest of a graph from a few labels."""

from ncgc.datasets import Split, load_dataset, make_split
from ncgc.estimator import NCGC
from ncgc.graph import Graph
from ncgc.losses import sinkhorn
from ncgc.nn import SOGN, SoftOrthogonal

__version__ = "0.1.0"
__all__ = ["NCGC", "SOGN", "Graph", "SoftOrthogonal", "Split", "load_dataset", "make_split", "sinkhorn"]
