"""Graphs of other libraries and their file formats."""
