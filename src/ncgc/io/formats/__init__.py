"""Graphs of other libraries (networkx, PyG, scipy) and of the GraphML file format, from and to Graph."""
