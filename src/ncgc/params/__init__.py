"""Hyper-parameters: how they are declared and checked, what "auto" comes to, and named settings."""
