"""How an epoch is run: the whole graph at once, in parts, or in several processes."""
