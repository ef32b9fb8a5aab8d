"""How training scales with the size of the graph."""
