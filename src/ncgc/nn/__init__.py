"""Soft orthogonal graph networks: SOGN, the layers of its backbones, and the wrapper for PyG's layers."""

from ncgc.nn.graph_operators import GraphOperators
from ncgc.nn.soft_orthogonal import SoftOrthogonal
from ncgc.nn.sogn import BACKBONES, SOGN, Output

__all__ = ["BACKBONES", "SOGN", "GraphOperators", "Output", "SoftOrthogonal"]
