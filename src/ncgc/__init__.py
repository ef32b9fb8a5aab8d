"""NCGC."""
