"""What a run was made with: the revision of the code, versions of the libraries, threads and memory."""

from __future__ import annotations

import platform
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ncgc import __version__


@cache
def environment() -> dict[str, Any]:
    """The versions that a run was made with, for its record.

    Returns:
        Version and revision of ncgc, versions of Python, torch and numpy, and torch's number of threads.
    """
    import torch

    return {
        "version": __version__,
        "revision": revision(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "threads": torch.get_num_threads(),
    }


def revision() -> str | None:
    """The git revision of the code that runs.

    Returns:
        Ten digits, with a + where the code differs from the revision; None outside a repository.
    """
    package = Path(__file__).resolve().parent.parent
    try:
        head = _git(package, "rev-parse", "--short=10", "HEAD")
        # results and documents may differ from the revision; code that makes a number must not do so unnoticed
        changed = _git(package, "status", "--porcelain", "--", str(package))
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+" if changed else "")


def _git(folder: Path, *words: str) -> str:
    # without optional locks: reading must not be in the way of somebody's commit
    command = ["git", "--no-optional-locks", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def reset_peak_memory() -> None:
    """Measure :func:`peak_memory` from now on; has no effect outside Linux."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float | None:
    """Peak resident memory of this process, data and libraries included.

    Returns:
        MiB; None outside Linux.
    """
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    return None
