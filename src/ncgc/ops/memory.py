"""Keep freed memory for the next epoch instead of returning it to the system.

Every epoch allocates and frees the same n×d buffers. Above a threshold (at most 32 MiB) glibc's allocator maps such a
buffer anew each time, and the system clears every page again on first use: a fifth of an epoch on a graph like CS.
Inside :func:`kept_memory` the threshold is raised; on leaving it is restored and the memory returned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

# mallopt's settings, and the values that glibc itself arrives at in a process with large buffers
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_USUAL_MMAP, _USUAL_TRIM = 32 * 2**20, 64 * 2**20
_LARGE = 2**31 - 1

_depth = 0


@cache
def _allocator() -> Any:
    """The C library if it is glibc, else None: elsewhere there is nothing to set."""
    try:
        library = ctypes.CDLL(None)
        if not hasattr(library, "gnu_get_libc_version"):
            return None
        return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
    except (OSError, TypeError):
        return None


def _set(mmap: int, trim: int) -> None:
    library = _allocator()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, mmap)
        library.mallopt(_TRIM_THRESHOLD, trim)


@contextmanager
def kept_memory() -> Iterator[None]:
    """Context in which large freed buffers stay with the process; without effect where the allocator is not glibc's.

    >>> import torch
    >>> with kept_memory():
    ...     torch.zeros(3).sum().item()
    0.0
    """
    global _depth
    _depth += 1
    if _depth == 1:
        _set(_LARGE, _LARGE)
    try:
        yield
    finally:
        _depth -= 1
        if _depth == 0:
            _set(_USUAL_MMAP, _USUAL_TRIM)
            library = _allocator()
            if library is not None:
                library.malloc_trim(0)
