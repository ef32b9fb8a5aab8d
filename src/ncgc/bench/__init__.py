"""What the measured tables are made with: settings, protocols and, in time, the runner."""

from ncgc.bench.presets import preset

__all__ = ["preset"]
