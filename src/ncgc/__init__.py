"""Label the rest of a graph from a few labels."""

from ncgc.graph import Graph
from ncgc.nn import SOGN, SoftOrthogonal

__all__ = ["SOGN", "Graph", "SoftOrthogonal"]
