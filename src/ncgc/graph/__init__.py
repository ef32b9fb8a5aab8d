"""Graph: the one form in which data enters the package."""

from ncgc.graph.graph import Graph

__all__ = ["Graph"]
