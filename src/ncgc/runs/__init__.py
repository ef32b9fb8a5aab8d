"""A run: its description, its execution, and the files it writes."""
