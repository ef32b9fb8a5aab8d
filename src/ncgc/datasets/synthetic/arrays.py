"""Matrices written row by row to the files that numpy and scipy read; the same numbers give the same bytes."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from ncgc.datasets.synthetic.features import dense_rows

PIECE = 1 << 20
Words = Iterable[tuple[np.ndarray, np.ndarray]]


def write_npy(path: Path, blocks: Words, shape: tuple[int, int]) -> None:
    """n×D float32 of zeros and ones as a ``.npy`` that ``numpy.load(..., mmap_mode="r")`` maps.

    ``blocks``: how many words each node has, and the words, as :func:`~ncgc.datasets.synthetic.features.word_blocks` yields them.
    """
    with path.open("wb") as file:
        _header(file, np.dtype(np.float32), shape)
        for counts, words in blocks:
            file.write(dense_rows(counts, words, shape[1]).data)


def write_npz(path: Path, blocks: Words, shape: tuple[int, int]) -> None:
    """n×D CSR of ones (uint8) as ``scipy.sparse.save_npz`` writes it.

    How many ones there are is known at the end only and stands at the beginning, so the words wait in a file beside.
    """
    pointer = np.zeros(shape[0] + 1, dtype=np.int64)
    aside = path.with_name(path.name + ".words")
    row = 0
    with aside.open("wb") as file:
        for counts, words in blocks:
            pointer[row + 1 : row + 1 + len(counts)] = counts
            row += len(counts)
            file.write(words.astype(np.int32, copy=False).data)
    np.cumsum(pointer, out=pointer)
    total = int(pointer[-1])
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in (("format", np.array(b"csr")), ("shape", np.array(shape)), ("indptr", pointer)):
            with _member(archive, name) as member:
                npy.write_array(member, array)
        with _member(archive, "indices") as member, aside.open("rb") as file:
            _header(member, np.dtype(np.int32), (total,))
            shutil.copyfileobj(file, member, PIECE)
        with _member(archive, "data") as member:
            _header(member, np.dtype(np.uint8), (total,))
            for piece in _ones(total):
                member.write(piece)
    aside.unlink()


def _header(file: IO[bytes], kind: np.dtype, shape: tuple[int, ...]) -> None:
    about = {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(file, about)


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """A file in the archive, under no date: that of 1980 is zip's first."""
    return archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)


def _ones(total: int) -> Iterator[bytes]:
    for start in range(0, total, PIECE):
        yield b"\1" * min(PIECE, total - start)
