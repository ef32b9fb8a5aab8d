"""The guards share cases.py, which is found beside them."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout whose results, studies and scripts are read: this one, or another that GUARDS_ROOT names."""
    return Path(os.environ.get("GUARDS_ROOT", Path(__file__).resolve().parents[2]))


@pytest.fixture(scope="session")
def frozen(root, tmp_path_factory) -> Path:
    """A checkout's benchmarks as they were at the recording: lines that were appended since are left out."""
    from cases import freeze

    return freeze(root, tmp_path_factory.mktemp("frozen"))
