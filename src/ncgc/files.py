"""Results on disk, whole or not at all: everything is written under a temporary name and renamed when complete."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ncgc.errors import OutputError

TEMPORARY = ".ncgc-"  # how every temporary name begins; no result's name does


def write_text(path: str | Path, text: str) -> None:
    """:func:`write_bytes` of text in UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file so that at every moment it is the old one or the new one, even if the machine stops."""
    path = Path(path)
    temporary = path.with_name(_temporary(path))
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def check_folder(path: str | Path, overwrite: bool = False) -> None:
    """Raise an OutputError unless results can be written to this folder; call it before the work, not after.

    Missing parents are made. A folder with files in it is refused unless ``overwrite``.
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_dir():
            raise OutputError(f"The output {path} is a file, not a folder; give another name.")
        if not overwrite and path.exists() and any(path.iterdir()):
            raise OutputError(f"The output folder {path} is not empty; give another one, or --overwrite to replace it.")
        trial = _workshop(path)
        trial.rmdir()
    except OSError as error:
        raise _refused(path, error) from None


@contextmanager
def whole_folder(
    path: str | Path, overwrite: bool = False, stale: Callable[[str], bool] = lambda name: False
) -> Iterator[Path]:
    """A temporary folder to write results to; when the block ends well they appear at ``path``, otherwise nothing does.

    A new folder appears in one rename. In one that exists, files are replaced one by one, each whole, those for which
    ``stale`` says yes by their name are removed, and everything else in it is left alone.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     with whole_folder(Path(root) / "run") as folder:
    ...         _ = (folder / "metrics.json").write_text("{}")
    ...     sorted(file.name for file in Path(root).rglob("*"))
    ['metrics.json', 'run']
    """
    path = Path(path)
    check_folder(path, overwrite)
    workshop = _workshop(path)
    try:
        yield workshop
        _deliver(workshop, path, stale)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _deliver(workshop: Path, path: Path, stale: Callable[[str], bool]) -> None:
    made = sorted(workshop.iterdir())
    for file in made:
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
    if not path.exists():
        workshop.rename(path)
        return
    names = {file.name for file in made}
    for old in list(path.iterdir()):
        if old.is_file() and old.name not in names and stale(old.name):
            old.unlink()
    for file in made:
        file.replace(path / file.name)


def _workshop(path: Path) -> Path:
    """A new temporary folder from which a rename to ``path`` or into it stays on one disk."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = (path if path.exists() else path.parent) / _temporary(path)
    folder.mkdir()
    return folder


def _temporary(path: Path) -> str:
    return f"{TEMPORARY}{path.name}-{secrets.token_hex(4)}"


def _refused(path: Path, error: OSError) -> OutputError:
    return OutputError(f"The results cannot be written to {path} ({error.strerror or error}); give another place.")
