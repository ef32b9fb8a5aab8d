"""Metrics of predictions, and calibration of probabilities."""
