"""Fitted models as folders of safetensors, JSON and Parquet."""
