"""From embeddings to positions on the map: principal components, then t-SNE; bit-equal for the same seed."""

from __future__ import annotations

import numpy as np
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

COMPONENTS = 50  # most columns for t-SNE
LARGEST = 5_000  # most nodes for t-SNE; the others are placed between their nearest ones
ITERATIONS = 500  # half of scikit-learn's default: the picture is the same to the eye in half the time
NEAREST = 5
_BLOCK = 20_000  # rows searched at a time, so that memory does not grow with the graph


def layout_2d(embeddings: np.ndarray, seed: int) -> np.ndarray:
    """Positions in the plane such that nodes with similar embeddings lie together.

    Up to 5,000 nodes are laid out by t-SNE (van der Maaten & Hinton, 2008) on their first 50 principal components. Of
    more, a random sample is, and each other node goes to the weighted mean of its five nearest in the sample. Nodes
    with equal embeddings are spread around their common position, so that each can be selected.

    Args:
        embeddings: (n, d), finite.
        seed: of the sample and of t-SNE.

    Returns:
        (n, 2) float32.

    Raises:
        ValueError: for another shape, or NaN or infinity.

    >>> layout_2d(np.zeros((1, 8)), seed=0)
    array([[0., 0.]], dtype=float32)
    """
    embeddings = np.asarray(embeddings, dtype=np.float32)
    if embeddings.ndim != 2:
        raise ValueError(f"The embeddings must be a table of n rows. Got the shape {embeddings.shape} instead.")
    if not np.isfinite(embeddings).all():
        raise ValueError("The embeddings have entries that are not finite; a map cannot be drawn from them.")
    count = len(embeddings)
    if count == 0:
        return np.zeros((0, 2), dtype=np.float32)
    embeddings = embeddings / (np.abs(embeddings).max(initial=0.0) or 1.0)  # so that squares do not overflow
    generator = np.random.default_rng(seed)
    sample = np.arange(count)
    if count > LARGEST:
        sample = np.sort(generator.choice(count, LARGEST, replace=False))
    # one thread on every machine: sums depend on the number of threads
    with threadpool_limits(1):
        centre, axes = _principal(embeddings[sample])
        reduced = ((embeddings - centre) @ axes).astype(np.float32)
        places = _tsne(reduced[sample], int(generator.integers(2**31)))
        if count > LARGEST:
            places = _placed(reduced, sample, places)
    return _fanned(places)


def _principal(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (d,) of the rows and their first (d, ≤50) principal axes."""
    centre = rows.mean(axis=0, dtype=np.float64)
    centred = rows - centre
    # the sign of an eigenvector is arbitrary, but always the same with LAPACK on one thread
    _, axes = np.linalg.eigh(centred.T @ centred)
    return centre.astype(np.float32), axes[:, ::-1][:, :COMPONENTS].astype(np.float32)


def _tsne(rows: np.ndarray, seed: int) -> np.ndarray:
    """(n, 2) positions by t-SNE; of fewer than eight different rows, too few for t-SNE, the first two components."""
    first = np.zeros((len(rows), 2), dtype=np.float32)
    first[:, : min(2, rows.shape[1])] = rows[:, :2]
    spread = first.std(axis=0).max(initial=0.0)
    if spread == 0 or len(np.unique(rows, axis=0)) < 8:
        return first
    tsne = TSNE(
        perplexity=min(30.0, (len(rows) - 1) / 3),
        init=first / spread * 1e-4,  # as scikit-learn itself starts from principal components
        max_iter=ITERATIONS,
        random_state=seed,
    )
    return np.asarray(tsne.fit_transform(rows), dtype=np.float32)


def _placed(rows: np.ndarray, sample: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Positions of all rows: outside the sample, the mean of the nearest ones, weighted by inverse distance."""
    search = NearestNeighbors(n_neighbors=NEAREST, algorithm="brute").fit(rows[sample])
    everywhere = np.empty((len(rows), 2), dtype=np.float32)
    for start in range(0, len(rows), _BLOCK):
        distance, nearest = search.kneighbors(rows[start : start + _BLOCK])
        weight = 1 / (distance + 1e-6 + 1e-3 * distance.mean(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        everywhere[start : start + _BLOCK] = (places[nearest] * weight[:, :, None]).sum(axis=1)
    everywhere[sample] = places
    return everywhere


def _fanned(places: np.ndarray) -> np.ndarray:
    """The positions, with coinciding ones spread in a spiral like the seeds of a sunflower."""
    extent = float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0
    # equal rows of a matrix product may differ in the last bits
    _, group, size = np.unique(np.round(places / extent, 5), axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    rank = np.empty(len(places), dtype=np.int64)
    rank[order] = np.arange(len(places)) - np.repeat(np.cumsum(size) - size, size)
    radius = extent * np.minimum(0.004, 0.1 / np.sqrt(size[group])) * np.sqrt(rank)
    angle = rank * np.pi * (3 - np.sqrt(5))
    return (places + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)).astype(np.float32)
