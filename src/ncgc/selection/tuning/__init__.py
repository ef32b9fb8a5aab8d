"""Hyper-parameters by search on validation nodes."""
