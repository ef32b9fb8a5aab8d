"""The version of ncgc, where every package may import it: the top of ncgc names classes of all layers."""

__version__ = "0.1.0"
