"""Fixtures for every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """The folder with the raw benchmark files; tests that need it are skipped where there is none."""
    root = os.environ.get("NCGC_DATA")
    if not root or not Path(root).is_dir():
        pytest.skip("needs the benchmark data: set NCGC_DATA to a folder with Cora/raw and the others")
    return Path(root)
