"""Data sets by name: where files are searched, and how they are read.

    root argument → $NCGC_DATA → the user's cache folder → download into the cache folder

In every root the files of a data set lie in ``<root>/<Title>/raw/``, PyG's own layout. The roots may be read-only:
only the cache folder is ever written to.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import platformdirs

from ncgc.datasets.catalogue import CATALOGUE, DatasetInfo, find_info
from ncgc.datasets.digits import digits_graph
from ncgc.datasets.download import DownloadError, download
from ncgc.datasets.npz import read_npz
from ncgc.datasets.planetoid import read_planetoid
from ncgc.errors import DatasetError
from ncgc.graph import Graph

# `download` is also the name of the switch below.
_fetch = download


def load_dataset(name: str, *, root: str | Path | None = None, download: bool = True) -> Graph:
    """Load a data set by name.

    Args:
        name: digits, cora, citeseer, pubmed, computers, photo, cs or physics, in any case.
        root: a folder to look in first; it must exist, and is never written to.
        download: whether to download the files into the cache folder when they are in none of the folders.

    Returns:
        The graph, with its public split where there is one.

    Raises:
        DatasetError: if the name is unknown, or the files are missing or damaged.

    >>> load_dataset("digits")
    Graph(nodes=1797, edges=12339, features=64, classes=10, labelled=1797)
    """
    info = find_info(name)
    roots = search_roots(root)
    if not info.files:
        return digits_graph()
    found = _find(info, roots)
    if found is not None:
        return _read(info, found)
    why = "downloading is switched off"
    if download:
        try:
            return _read(info, _fetch(info, cache_root(), lambda folder: _read(info, folder)))
        except DownloadError as error:
            why = f"the download failed ({error})"
    looked = " or ".join(_looked(info, place) for place in roots)
    raise DatasetError(
        f"The data set '{info.name}' is not in {looked}, and {why}; put {', '.join(info.files)} "
        f"into {_raw(info, cache_root())}, or set NCGC_DATA to a folder that has them in {info.title}/raw."
    )


def available(root: str | Path | None = None) -> list[DatasetInfo]:
    """All known data sets, with the folder each was found in.

    Args:
        root: a folder to look in first.

    Returns:
        The entries, in the order of the catalogue.

    >>> digits = available()[0]
    >>> digits.title, digits.here, digits.path
    ('Digits', True, None)
    """
    roots = search_roots(root)
    filled = []
    for info in CATALOGUE.values():
        path = _find(info, roots)
        filled.append(replace(info, path=path, here=path is not None or not info.files))
    return filled


def cache_root() -> Path:
    """The user's cache folder, the only place to which downloads are written.

    Returns:
        The folder, which may not exist yet.
    """
    return Path(platformdirs.user_cache_dir("ncgc"))


def search_roots(root: str | Path | None = None) -> list[Path]:
    """The folders searched for data sets.

    Args:
        root: a folder to look in first; it must exist.

    Returns:
        ``root``, $NCGC_DATA where set, and the cache folder, in this order; the last two may be missing.
    """
    roots = []
    if root is not None:
        given = Path(root).expanduser()
        if not given.is_dir():
            raise DatasetError(f"The data folder {given} does not exist or is not a folder; give an existing one.")
        roots.append(given)
    if os.environ.get("NCGC_DATA"):
        roots.append(Path(os.environ["NCGC_DATA"]).expanduser())
    return list(dict.fromkeys([*roots, cache_root()]))


def _raw(info: DatasetInfo, root: Path) -> Path:
    return root / info.title / "raw"


def _find(info: DatasetInfo, roots: list[Path]) -> Path | None:
    """The first raw folder that holds every file of the data set."""
    if not info.files:
        return None
    raws = (_raw(info, root) for root in roots)
    return next((raw for raw in raws if not _missing(info, raw)), None)


def _missing(info: DatasetInfo, raw: Path) -> list[str]:
    return [name for name in info.files if not (raw / name).is_file()]


def _looked(info: DatasetInfo, root: Path) -> str:
    """The folder, with the missing files where only some are there."""
    raw, missing = _raw(info, root), _missing(info, _raw(info, root))
    return f"{raw} (which lacks {', '.join(missing)})" if len(missing) < len(info.files) else str(raw)


def _read(info: DatasetInfo, raw: Path) -> Graph:
    if info.family == "citation":
        return read_planetoid(raw, info.name)
    return read_npz(raw / info.files[0], info.name)
