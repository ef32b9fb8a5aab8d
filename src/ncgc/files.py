"""Results on disk, whole or not at all: everything is written under a temporary name and renamed when complete."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ncgc.errors import NCGCError, OutputError

TEMPORARY = ".ncgc-"  # how every temporary name begins; no result's name does


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8, as :func:`write_bytes` does.

    Args:
        path: the file.
        text: its new content.

    Raises:
        OutputError: if the file cannot be written.
    """
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file so that at every moment it is the old one or the new one, even if the machine stops.

    Args:
        path: the file; for a link, the file it points to is written.
        content: its new content.

    Raises:
        OutputError: if the file cannot be written.
    """
    try:
        place = Path(path).resolve()
        temporary = place.with_name(_temporary(place))
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:
        raise _refused(path, error) from None


def check_folder(path: str | Path, overwrite: bool = False) -> None:
    """Check that results can be written to a folder; call it before the work, not after.

    Missing parents are made on trial and removed again.

    Args:
        path: the folder, which need not exist.
        overwrite: whether it may hold files; temporary files that a killed run left behind never count.

    Raises:
        OutputError: if it cannot be written, or is not empty.
    """
    path = Path(path)
    made: list[Path] = []
    try:
        if path.exists() and not path.is_dir():
            raise OutputError(f"The output {path} is a file, not a folder; give another name.")
        if not overwrite and path.exists() and any(not file.name.startswith(TEMPORARY) for file in path.iterdir()):
            raise OutputError(f"The output folder {path} is not empty; give another one, or --overwrite to replace it.")
        made = _missing_parents(path)
        _workshop(path).rmdir()
    except NCGCError:
        raise
    except (OSError, RuntimeError, ValueError) as error:  # a cycle of links, an invalid name
        raise _refused(path, error) from None
    finally:
        _remove_empty(made)


@contextmanager
def whole_folder(
    path: str | Path, overwrite: bool = False, stale: Callable[[str], bool] = lambda name: False, at_once: bool = False
) -> Iterator[Path]:
    """Write a folder all or nothing: its files appear at ``path`` once the block ends without an error.

    A new folder appears in one rename. In a folder that exists, files and subfolders are replaced one by one, each as a
    whole; everything else in it stays, except what is stale.

    Args:
        path: the folder.
        overwrite: whether it may hold files already.
        stale: for a name in the existing folder (a subfolder's ends with a slash), whether to remove it.
        at_once: replace the existing folder with all its content, for files that mean nothing without each other.

    Yields:
        A temporary folder to write to.

    Raises:
        OutputError: if the folder cannot be written, or is not empty.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     with whole_folder(Path(root) / "run") as folder:
    ...         _ = (folder / "metrics.json").write_text("{}")
    ...     sorted(file.name for file in Path(root).rglob("*"))
    ['metrics.json', 'run']
    """
    path = Path(path)
    check_folder(path, overwrite)
    made = _missing_parents(path)
    workshop = _workshop(path, beside=at_once)
    try:
        yield workshop
        _sync(workshop)
        if at_once or not path.exists():
            _put(workshop, path)
        else:
            _deliver(workshop, path, stale)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
        _remove_empty(made)


def _sync(folder: Path) -> None:
    """Ask for every file in the folder, however deep, to be on the disk before a name points to it."""
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())


def _deliver(workshop: Path, path: Path, stale: Callable[[str], bool]) -> None:
    made = sorted(workshop.iterdir())
    names = {file.name for file in made}
    for old in list(path.iterdir()):
        if old.name == workshop.name or old.name in names:
            continue
        if old.is_file() and stale(old.name):
            old.unlink()
        elif old.is_dir() and not old.is_symlink() and stale(old.name + "/"):
            shutil.rmtree(old)
    for file in made:
        if file.is_dir():
            _put(file, path / file.name)
        else:
            file.replace(path / file.name)


def _put(folder: Path, place: Path) -> None:
    """Rename a folder to a place where another may be: at every moment there is the old one, none, or the new one."""
    place = place.resolve()  # where a link points, not the link
    if not place.exists():
        folder.rename(place)
        return
    aside = place.with_name(_temporary(place))
    place.rename(aside)
    try:
        folder.rename(place)
    except OSError:
        aside.rename(place)
        raise
    if aside.is_dir():
        shutil.rmtree(aside, ignore_errors=True)
    else:
        aside.unlink()


def _workshop(path: Path, beside: bool = False) -> Path:
    """A new temporary folder from which a rename to ``path`` or into it stays on one disk."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = (path if path.exists() and not beside else path.parent) / _temporary(path)
    folder.mkdir()
    return folder


def _missing_parents(path: Path) -> list[Path]:
    """The folders that would have to be made for this path, the deepest first."""
    return [parent for parent in path.resolve().parents if not parent.exists()]


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # something is in it by now
            folder.rmdir()


def _temporary(path: Path) -> str:
    return f"{TEMPORARY}{path.name}-{secrets.token_hex(4)}"


def _refused(path: str | Path, error: Exception) -> OutputError:
    reason = getattr(error, "strerror", None) or error
    return OutputError(f"The results cannot be written to {path} ({reason}); give another place.")
