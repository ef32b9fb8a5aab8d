"""The features of a block model: a few words for each node, from the topic of its class or from a common background.

In memory as one matrix, or written row by row to the files that numpy and scipy read: the same numbers, the same bytes.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from ncgc.datasets.synthetic.model import LARGEST, BlockModel
from ncgc.datasets.synthetic.nodes import TOPICS, WORDS, Nodes, generator, spans
from ncgc.graph.features import SPARSE_BELOW

TOPIC = 0.1  # fraction of all words that belong to a class's topic; topics overlap
ZIPF = 0.8  # the background's word of rank r has a probability in proportion to r^−ZIPF
PIECE = 1 << 20  # bytes copied at a time

WordBlocks = Iterable[tuple[np.ndarray, np.ndarray]]


def word_blocks(model: BlockModel, nodes: Nodes) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw the words of all nodes, block by block.

    Args:
        model: the block model.
        nodes: its nodes.

    Yields:
        (b,) the number of different words of each node in the block, and the words themselves, int32, ascending for
        each node.

    >>> from ncgc.datasets.synthetic.nodes import draw_nodes
    >>> model = BlockModel(num_nodes=1000, features_per_node=3)
    >>> [(counts, words)] = word_blocks(model, draw_nodes(model))
    >>> len(counts), int(counts.max()), len(words) == int(counts.sum())
    (1000, 3, True)
    """
    topics = class_topics(model)
    background = np.cumsum(np.arange(1, model.num_features + 1, dtype=np.float64) ** -ZIPF)
    for block, start, stop in spans(model.num_nodes, model.nodes_a_page):
        random = generator(model.seed, WORDS, block)
        shape = (stop - start, model.features_per_node)
        own = random.random(shape) < model.feature_signal
        chance = random.random(shape)
        rank = (chance * topics.shape[1]).astype(np.int32)
        common = np.searchsorted(background, chance * background[-1], side="right")
        common = np.minimum(common, model.num_features - 1).astype(np.int32)  # rounding at the end
        words = np.where(own, topics[nodes.labels[start:stop, None], rank], common)
        words.sort(axis=1)
        first = np.ones(shape, dtype=bool)
        np.not_equal(words[:, 1:], words[:, :-1], out=first[:, 1:])
        yield first.sum(axis=1), words[first]


def class_topics(model: BlockModel) -> np.ndarray:
    """Draw the words of each class's topic.

    Args:
        model: the block model.

    Returns:
        (K, T) int32, all different within a class.

    >>> class_topics(BlockModel(num_features=50)).shape
    (10, 5)
    """
    size = max(round(TOPIC * model.num_features), 1)
    draws = (generator(model.seed, TOPICS, number) for number in range(model.num_classes))
    return np.stack([random.choice(model.num_features, size, replace=False) for random in draws]).astype(np.int32)


def dense_rows(counts: np.ndarray, words: np.ndarray, num_features: int) -> np.ndarray:
    """One block of words as dense rows.

    Args:
        counts: (b,) number of words of each node.
        words: the words, node after node.
        num_features: D.

    Returns:
        (b, D) float32, 1 where a node has the word.

    >>> dense_rows(np.array([2, 1]), np.array([0, 2, 1]), 3)
    array([[1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    rows = np.zeros((len(counts), num_features), dtype=np.float32)
    rows[np.repeat(np.arange(len(counts)), counts), words] = 1
    return rows


def feature_matrix(model: BlockModel, nodes: Nodes) -> sparse.csr_array | np.ndarray:
    """The features of all nodes in memory.

    Args:
        model: the block model.
        nodes: its nodes.

    Returns:
        n×D float32 of zeros and ones: CSR below 6 % ones, dense above, as `ncgc.io.read_graph` would read them.
    """
    counts, words = (np.concatenate(part) for part in zip(*word_blocks(model, nodes), strict=True))
    pointer = np.concatenate([[0], np.cumsum(counts)])
    shape = (model.num_nodes, model.num_features)
    index = np.int32 if len(words) <= LARGEST else np.int64  # the type that scipy reads a file with
    ones = np.ones(len(words), dtype=np.float32)
    matrix = sparse.csr_array((ones, words.astype(index), pointer.astype(index)), shape=shape)
    return matrix if len(words) < SPARSE_BELOW * shape[0] * shape[1] else matrix.toarray()


def write_npy(path: Path, blocks: WordBlocks, shape: tuple[int, int]) -> None:
    """Write n×D float32 zeros and ones as a ``.npy`` file that ``numpy.load(..., mmap_mode="r")`` maps.

    Args:
        path: the file.
        blocks: as :func:`word_blocks` yields them.
        shape: (n, D).
    """
    with path.open("wb") as file:
        _header(file, np.dtype(np.float32), shape)
        for counts, words in blocks:
            file.write(dense_rows(counts, words, shape[1]).data)


def write_npz(path: Path, blocks: WordBlocks, shape: tuple[int, int]) -> None:
    """Write an n×D CSR matrix of ones (uint8) as ``scipy.sparse.save_npz`` does.

    The number of ones comes first in the file but is known last, so the words wait in a temporary file beside it.

    Args:
        path: the file.
        blocks: as :func:`word_blocks` yields them.
        shape: (n, D).
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
    """A file in the archive, dated 1980 (the earliest zip knows), so that equal graphs give equal bytes."""
    return archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)


def _ones(total: int) -> Iterator[bytes]:
    for start in range(0, total, PIECE):
        yield b"\1" * min(PIECE, total - start)
