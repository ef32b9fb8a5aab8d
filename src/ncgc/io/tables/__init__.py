"""Tables of nodes and edges, read into a Graph."""
