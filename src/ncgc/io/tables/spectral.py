"""Features from the graph's structure, where there are no others: spectral coordinates and degrees."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ncgc.errors import ParameterError

DENSE_UP_TO = 400  # nodes; below, LAPACK's whole decomposition is quicker than an iteration and exact
STEPS = 5  # Krylov vectors for each eigenvector wanted,
LEAST = 100  # and at least so many in all
BLOCK = 4  # vectors a step


def spectral_features(adjacency: sparse.csr_array, dimensions: int = 64, seed: int = 0) -> np.ndarray:
    """Leading eigenvectors of D^-1/2·A·D^-1/2, and two columns of degrees.

    The eigenvectors of the eigenvalue 1 are known, √d on one component each and zero elsewhere: those of the largest
    components are used, at most a quarter of the dimensions and none if the graph is connected. The others come from
    the Lanczos iteration on the orthogonal complement (exact for small graphs, a fixed number of steps for large ones),
    so that a thousand small components do not hide the shape of the large one. Columns have mean square 1 and their
    largest entry is positive; isolated nodes are zero. The degree columns are log(1 + d) and its mean over the
    neighbours, standardised.

    The same graph and seed give the same features. Those of another graph are not comparable, so a model fitted on them
    is good for its own graph only.

    Args:
        adjacency: n×n symmetric CSR.
        dimensions: number of eigenvectors, at most.
        seed: of the start of the iteration.

    Returns:
        n×(at most ``dimensions`` + 2) float32.

    >>> ring = sparse.csr_array(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> spectral_features(ring, dimensions=2).shape
    (6, 4)
    """
    if dimensions < 1:
        raise ParameterError(f"The 'dimensions' of spectral features must be at least 1. Got {dimensions} instead.")
    adjacency = sparse.csr_array(adjacency, dtype=np.float32)
    joined = np.diff(adjacency.indptr) > 0
    part = adjacency if joined.all() else sparse.csr_array(adjacency[joined][:, joined])
    vectors = _vectors(part, dimensions, np.random.default_rng(seed))
    largest = np.abs(vectors).argmax(axis=0) if len(vectors) else np.zeros(0, dtype=int)
    vectors *= np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1) * np.sqrt(len(joined))
    features = np.zeros((len(joined), vectors.shape[1] + 2), dtype=np.float32)
    features[joined, :-2] = vectors
    features[:, -2:] = _degrees(adjacency)
    return features


def _vectors(adjacency: sparse.csr_array, dimensions: int, generator: np.random.Generator) -> np.ndarray:
    """n×(at most dimensions) orthonormal columns for a graph without isolated nodes."""
    if not adjacency.shape[0]:
        return np.zeros((0, 0))
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    strength = np.bincount(rows, weights=adjacency.data)  # in float64: weights may be as large as float32 holds
    root = 1 / np.sqrt(strength)
    normalised = adjacency.copy()
    normalised.data = (normalised.data * root[rows] * root[normalised.indices]).astype(np.float32)
    trivial = _Trivial(adjacency, strength)
    components = trivial.vectors(dimensions // 4)
    wanted = min(dimensions - components.shape[1], len(strength) - trivial.count)
    if wanted <= 0:
        return components
    solve = _exact if len(strength) <= DENSE_UP_TO else _lanczos
    return np.hstack([components, solve(normalised, trivial, wanted, generator)])


class _Trivial:
    """The eigenvectors of eigenvalue 1, one a component: √d there, scaled to length 1. Never stored as n×C."""

    def __init__(self, adjacency: sparse.csr_array, strength: np.ndarray):
        _, component = connected_components(adjacency, directed=False)
        self.part = component
        self.value = np.sqrt(strength / np.bincount(component, weights=strength)[component])
        self.largest = np.argsort(-np.bincount(component), kind="stable")
        self.count = len(self.largest)

    def vectors(self, most: int) -> np.ndarray:
        """n×k of the largest components; k = 0 where there is only one, whose vector repeats the degrees."""
        chosen = self.largest[: most if self.count > 1 else 0]
        return np.where(self.part[:, None] == chosen, self.value[:, None], 0)

    def removed_from(self, vectors: np.ndarray) -> np.ndarray:
        """k×n vectors, projected onto the complement of these eigenvectors."""
        parts = [np.bincount(self.part, weights=self.value * one)[self.part] for one in vectors]
        return vectors - self.value * np.stack(parts)


def _exact(normalised: sparse.csr_array, trivial: _Trivial, wanted: int, generator: np.random.Generator) -> np.ndarray:
    """n×wanted by the dense decomposition, with the eigenvalues 1 moved below all others."""
    same = trivial.part[:, None] == trivial.part
    lowered = normalised.toarray().astype(np.float64) - 3 * same * np.outer(trivial.value, trivial.value)
    _, vectors = np.linalg.eigh(lowered)
    return vectors[:, ::-1][:, :wanted]


def _lanczos(
    normalised: sparse.csr_array, trivial: _Trivial, wanted: int, generator: np.random.Generator
) -> np.ndarray:
    """n×wanted Ritz vectors of the largest Ritz values in a block Krylov space of fixed size, fully reorthogonalised.

    The work is fixed: well separated eigenvectors have converged by then, and others would carry little. A block finds
    clustered eigenvalues, as many similar communities have, where a single vector would miss some.
    """
    n = normalised.shape[0]
    size = min(max(STEPS * wanted, LEAST), n - trivial.count) // BLOCK * BLOCK
    basis = np.zeros((size, n), dtype=np.float32)
    projected = np.zeros((size, size))
    block = np.zeros((BLOCK, n), dtype=np.float32)
    for start in range(0, size, BLOCK):
        now, known = slice(start, start + BLOCK), slice(0, start + BLOCK)
        basis[now] = _orthonormal(block, basis[:start], trivial, generator)
        block = trivial.removed_from((normalised @ np.ascontiguousarray(basis[now].T)).T).astype(np.float32)
        lengths = np.linalg.norm(block, axis=1)
        projected[known, now] = coefficients = basis[known] @ block.T
        block -= coefficients.T @ basis[known]
        if (np.linalg.norm(block, axis=1) < 0.1 * lengths).any():  # little is left, and much of that is rounding
            block -= (block @ basis[known].T) @ basis[known]
    _, vectors = np.linalg.eigh(np.triu(projected) + np.triu(projected, 1).T)
    return basis.T @ vectors[:, ::-1][:, :wanted].astype(np.float32)


def _orthonormal(block: np.ndarray, basis: np.ndarray, trivial: _Trivial, generator: np.random.Generator) -> np.ndarray:
    """b×n orthonormal rows from rows orthogonal to the basis; rows that vanished are drawn anew."""
    lengths = np.linalg.norm(block, axis=1, keepdims=True)
    block = block / np.maximum(lengths, 1e-30)
    rows, triangle = np.linalg.qr(block.T)
    spent = (lengths.ravel() < 1e-5) | (np.abs(np.diag(triangle)) < 1e-4)
    if not spent.any():
        return rows.T
    block[spent] = trivial.removed_from(generator.standard_normal((int(spent.sum()), block.shape[1])))
    for _ in range(2):  # twice is enough
        block /= np.linalg.norm(block, axis=1, keepdims=True)
        block -= (block @ basis.T) @ basis
    return np.linalg.qr((block / np.linalg.norm(block, axis=1, keepdims=True)).T)[0].T


def _degrees(adjacency: sparse.csr_array) -> np.ndarray:
    """n×2: log(1 + d) and its mean over the neighbours, each standardised; a constant column is zero."""
    degree = np.diff(adjacency.indptr)
    own = np.log1p(degree)
    pattern = sparse.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    beside = np.divide(pattern @ own, degree, out=np.zeros(len(own)), where=degree > 0)
    columns = np.stack([own, beside], axis=1)
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 1e-9, spread, 1)
