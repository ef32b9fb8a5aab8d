"""A run: what it is asked to do, how it is done, and what it leaves behind."""
