"""The two sentences about a data file that cannot be used, the same for every format."""

from __future__ import annotations

from pathlib import Path

from ncgc.errors import DatasetError


def damaged(path: Path, why: str) -> DatasetError:
    """For a file that is there but is not what it should be.

    >>> raise damaged(Path("ind.cora.y"), "it is empty")
    Traceback (most recent call last):
    ncgc.errors.DatasetError: The file ind.cora.y is damaged or not the data set's own: it is empty; replace it with a fresh copy.
    """
    return DatasetError(
        f"The file {path} is damaged or not the data set's own: {why.strip().rstrip('.')}; replace it with a fresh copy."
    )


def unreadable(path: Path, error: OSError) -> DatasetError:
    """For a file that the system will not hand over.

    >>> raise unreadable(Path("ind.cora.y"), PermissionError(13, "Permission denied"))
    Traceback (most recent call last):
    ncgc.errors.DatasetError: The file ind.cora.y cannot be read (Permission denied); check that it is there and yours to read.
    """
    why = error.strerror or error
    return DatasetError(f"The file {path} cannot be read ({why}); check that it is there and yours to read.")
