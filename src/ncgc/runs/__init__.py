"""A run: its description, how it is done, and what it leaves behind."""
