"""The store of runs: one JSON line per run in a folder of .jsonl files; a run that is in any of them is done."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ncgc.errors import NCGCError
from ncgc.runs.result import normalise_record
from ncgc.runs.spec import RunSpec, key_of_record

FOLDER = Path("benchmarks/results")
REQUIRED = ("dataset", "split", "labels_per_class", "seed", "method", "settings", "test_accuracy")


class StoreError(NCGCError):
    """The store cannot be read or written."""


class Store:
    """The runs made so far, found by the key of what they ran.

    Args:
        folder: with the .jsonl files; it need not exist yet.

    Raises:
        StoreError: a file cannot be read, or a line is not JSON.

    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> run = RunSpec.on_dataset("digits", "few", 1)
    >>> store.find(run) is None
    True
    """

    def __init__(self, folder: str | Path = FOLDER):
        self.folder = Path(folder)
        self._records: dict[str, dict[str, Any]] = {}
        self.reload()

    def reload(self) -> None:
        """Read all files again. A line cut short by a crash is skipped: that run was not finished."""
        self._records = {}
        for path in sorted(self.folder.glob("*.jsonl")) if self.folder.is_dir() else []:
            for record in _lines(path):
                # the first of equals stays: a result is never replaced by a later one
                self._records.setdefault(key_of_record(record), record)

    def find(self, run: RunSpec) -> dict[str, Any] | None:
        """The record of a run.

        Args:
            run: the run.

        Returns:
            Its record; None where it is still to be made.
        """
        return self._records.get(run.key)

    def missing(self, runs: Iterable[RunSpec]) -> list[RunSpec]:
        """The runs still to be made.

        Args:
            runs: those of a plan.

        Returns:
            The missing ones, each once, in order.
        """
        seen: dict[str, RunSpec] = {}
        for run in runs:
            if run.key not in self._records:
                seen.setdefault(run.key, run)
        return list(seen.values())

    def add(self, name: str, record: dict[str, Any]) -> None:
        """Store a record; it is on the disk before this returns.

        Args:
            name: of the file, without .jsonl.
            record: of a run, from `RunResult.record`.

        Raises:
            StoreError: if the file cannot be written.
        """
        line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
        path = self.folder / f"{name}.jsonl"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with path.open("a+b") as file:
                if file.tell() and not _ends_with_newline(file):
                    line = "\n" + line  # after a line that a crash cut short
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(
                f"The result cannot be written to {path} ({error.strerror}); free the disk, then go on."
            ) from None
        self._records.setdefault(key_of_record(record), record)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._records.values())


def _ends_with_newline(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file; other results in the same folder, such as timings, have no settings and are skipped."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}).") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            if line.count(b"{") > line.count(b"}"):
                continue  # cut short by a crash: that run was not finished
            raise StoreError(f"{path}, line {number}, is not JSON; restore the file or delete the line.") from None
        if (
            isinstance(record, dict)
            and all(name in record for name in REQUIRED)
            and isinstance(record["settings"], dict)
        ):
            yield normalise_record(record)
