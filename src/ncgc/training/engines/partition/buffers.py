"""Large arrays that are written once and read in blocks: in memory, or in a temporary file where they are very large."""

from __future__ import annotations

import tempfile

import numpy as np

IN_FILE = 2**30  # bytes from which a buffer lies in a file


def buffer(rows: int, columns: int) -> np.ndarray:
    """(rows, columns) float32 not yet written; in a file (in TMPDIR) that vanishes with it where it is large."""
    if rows * columns * 4 < IN_FILE:
        return np.empty((rows, columns), dtype=np.float32)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=(rows, columns))
