"""Downloading raw files from PyG's addresses: quietly, in limited time, all or nothing.

PyG's own classes download and then unpickle in one go, over unverified TLS and without a time limit. Here only their
addresses are used. The files go into a temporary folder beside the place they belong, are checked there, and only
then renamed, so an interrupted download leaves nothing that could be taken for data.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from ncgc.datasets.catalogue import DatasetInfo
from ncgc.errors import DatasetError

ANSWER_SECONDS = 15.0  # until the first byte, name lookup included
STALL_SECONDS = 10.0  # between two pieces
TOTAL_SECONDS = 300.0  # for all files of a data set
PIECE = 1 << 16


class DownloadError(Exception):
    """Why the files could not be fetched, as half a sentence; never leaves this package."""


def address_of(info: DatasetInfo) -> str:
    """The web address from which PyG downloads a data set.

    Args:
        info: the data set's entry in the catalogue.

    Returns:
        The address of the folder, without a trailing slash.
    """
    from torch_geometric.datasets import Amazon, Coauthor, Planetoid

    return {"citation": Planetoid, "amazon": Amazon, "coauthor": Coauthor}[info.family].url.rstrip("/")


def download(info: DatasetInfo, root: Path, check: Callable[[Path], Any]) -> Path:
    """Download the files of a data set.

    Args:
        info: the data set.
        root: the folder to write into.
        check: reads the downloaded folder and raises a DatasetError if it holds something else (a login page, say).

    Returns:
        The folder of the files, ``<root>/<title>/raw``.

    Raises:
        DownloadError: if there is no network or no space, or ``check`` fails.
    """
    raw = root / info.title / "raw"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=root) as temporary:
            folder = Path(temporary)
            deadline = time.monotonic() + TOTAL_SECONDS
            base = address_of(info)
            for name in info.files:
                _fetch(f"{base}/{name}", folder / name, deadline)
            try:
                check(folder)
            except DatasetError as error:
                raise DownloadError(f"what {urlsplit(base).hostname} sent is no data set ({error})") from None
            raw.mkdir(parents=True, exist_ok=True)
            for name in info.files:
                (folder / name).replace(raw / name)
    except OSError as error:
        raise DownloadError(f"{error.filename or root} cannot be written ({error.strerror or error})") from None
    return raw


def _fetch(url: str, path: Path, deadline: float) -> None:
    host = urlsplit(url).hostname
    try:
        response = _within(ANSWER_SECONDS, lambda: urlopen(url, timeout=STALL_SECONDS))
        with response:
            pieces = _pieces(response, deadline)
            expected = response.headers.get("Content-Length")
    except HTTPError as error:
        raise DownloadError(f"{host} answered {error.code} for {path.name}") from None
    except TimeoutError:
        raise DownloadError(f"{host} did not answer in time") from None
    except (URLError, HTTPException, OSError) as error:
        raise DownloadError(f"{host} cannot be reached: {getattr(error, 'reason', error)}") from None
    content = b"".join(pieces)
    if expected is not None and len(content) != int(expected):
        raise DownloadError(f"{host} broke off after {len(content):,} of {int(expected):,} bytes of {path.name}")
    path.write_bytes(content)


def _pieces(response: Any, deadline: float) -> list[bytes]:
    pieces = []
    while piece := response.read(PIECE):
        pieces.append(piece)
        if time.monotonic() > deadline:
            raise TimeoutError
    return pieces


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    """``call()``, given up after ``seconds``: a name lookup ignores socket time limits, so it runs in its own thread.

    >>> _within(60, lambda: "here")
    'here'
    """
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["value"] = call()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if "error" in outcome:
        raise outcome["error"]
    if "value" not in outcome:
        raise TimeoutError
    return outcome["value"]
