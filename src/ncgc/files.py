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
    """:func:`write_bytes` of text in UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file so that at every moment it is the old one or the new one, even if the machine stops.

    A link stays one: the file it points to is written.
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
    """Raise an OutputError unless results can be written to this folder; call it before the work, not after.

    A folder with files in it is refused unless ``overwrite``; what a killed run left under a temporary name is no such
    file. Missing parents are made on trial and removed again.
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
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a name that can be none
        raise _refused(path, error) from None
    finally:
        _remove_empty(made)


@contextmanager
def whole_folder(
    path: str | Path, overwrite: bool = False, stale: Callable[[str], bool] = lambda name: False, at_once: bool = False
) -> Iterator[Path]:
    """A temporary folder to write results to; when the block ends well they appear at ``path``, otherwise nothing does.

    A new folder appears in one rename. In one that exists, files are replaced one by one, each whole, folders in it each
    as a whole, those for which ``stale`` says yes by their name (of a folder: its name and a slash) are removed, and
    everything else in it is left alone. With ``at_once`` the folder that exists makes way for the new one, with all that
    is in it: for files that mean nothing without each other.

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
