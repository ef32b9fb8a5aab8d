"""The nodes of a block model: the class and the degree factor of each, laid out so that partners are found by bisection.

Every block has its own random generator, by the seed, the purpose and the block's number: no block waits for another's
draws, and nothing global is seeded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ncgc.datasets.synthetic.model import NODES_A_BLOCK, BlockModel
from ncgc.errors import ParameterError

# Purposes of a generator; their numbers are part of what a seed means and never change.
NODES, SHARES, INSIDE, OUTSIDE, TOPICS, WORDS, LABELLED = range(7)


@dataclass(frozen=True, eq=False)
class Nodes:
    """Class and expected degree of every node, 14 bytes a node.

    Nodes are sorted by class into places 0..n-1; the degree factors θ, summed along the places, make ``mass``.

    Attributes:
        labels: (n,) int16 class of every node.
        order: (n,) int32 the node at every place.
        mass: (n,) float64, mass[p] = θ of the nodes at the places 0..p.
        ends: (K,) int64 the place after the last one of each class.
    """

    labels: np.ndarray
    order: np.ndarray
    mass: np.ndarray
    ends: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """(K,) number of nodes of each class."""
        return np.diff(self.ends, prepend=0)

    @property
    def tops(self) -> np.ndarray:
        """(K,) mass up to the end of each class."""
        tops: np.ndarray = self.mass[self.ends - 1]
        return tops

    def members(self, number: int) -> np.ndarray:
        """The nodes of a class.

        Args:
            number: the class, from 0.

        Returns:
            (m,) numbers of its nodes.
        """
        return self.order[self.ends[number] - self.sizes[number] : self.ends[number]]


def draw_nodes(model: BlockModel) -> Nodes:
    """Draw the class and the degree factor of every node, independently.

    Args:
        model: the block model.

    Returns:
        The nodes.

    Raises:
        ParameterError: if a class is too small for its labels.

    >>> nodes = draw_nodes(BlockModel(num_nodes=1000, num_classes=4))
    >>> bool((nodes.labels[nodes.members(2)] == 2).all()), int(nodes.sizes.sum())
    (True, 1000)
    """
    labels = np.empty(model.num_nodes, dtype=np.int16)
    factors = np.empty(model.num_nodes)
    bounds = np.cumsum(class_shares(model))
    for block, start, stop in spans(model.num_nodes, NODES_A_BLOCK):
        chance = generator(model.seed, NODES, block).random((2, stop - start))
        labels[start:stop] = np.minimum(np.searchsorted(bounds, chance[0], side="right"), model.num_classes - 1)
        factors[start:stop] = degree_factors(model, chance[1])
    order = np.argsort(labels, kind="stable").astype(np.int32)
    sizes = np.bincount(labels, minlength=model.num_classes)
    _check_sizes(model, sizes)
    return Nodes(labels, order, np.cumsum(factors[order]), np.cumsum(sizes))


def class_shares(model: BlockModel) -> np.ndarray:
    """The expected fraction of nodes in each class, k^−skew normalised.

    Args:
        model: the block model.

    Returns:
        (K,) float64 that sum to 1.

    >>> class_shares(BlockModel(num_classes=2, class_skew=1)).round(3)
    array([0.667, 0.333])
    """
    weights = np.arange(1, model.num_classes + 1, dtype=np.float64) ** -model.class_skew
    shares: np.ndarray = weights / weights.sum()
    return shares


def degree_factors(model: BlockModel, chance: np.ndarray) -> np.ndarray:
    """Degree factors θ = (γ−2)/(γ−1)·(1−u)^(−1/(γ−1)), which have mean 1, capped at √(n/(K·mean_degree)).

    Args:
        model: the block model, with γ its degree exponent.
        chance: (b,) u, uniform in [0, 1).

    Returns:
        (b,) θ.

    >>> degree_factors(BlockModel(degree_exponent=3), np.array([0.0, 0.75, 0.99]))
    array([0.5, 1. , 5. ])
    """
    if model.degree_exponent is None:
        return np.ones(len(chance))
    shape = model.degree_exponent - 1
    most = max(np.sqrt(model.num_nodes / (model.num_classes * model.mean_degree)), 1.0)
    factors: np.ndarray = np.minimum((shape - 1) / shape * (1 - chance) ** (-1 / shape), most)
    return factors


def _check_sizes(model: BlockModel, sizes: np.ndarray) -> None:
    smallest, needed = int(sizes.argmin()), model.labels_per_class + model.validation
    if sizes[smallest] < needed:
        raise ParameterError(
            f"The smallest class, {model.class_names[smallest]!r}, has {sizes[smallest]} of {model.num_nodes:,} nodes and "
            f"needs {needed} for its labels; give more nodes, fewer labels a class, fewer classes, or less class skew."
        )


def generator(seed: int, purpose: int, block: int = 0) -> np.random.Generator:
    """The random generator of one block: ``SeedSequence(seed)``, its child ``purpose``, the child ``block`` of that.

    Args:
        seed: of the model.
        purpose: one of the constants above.
        block: number of the block.

    Returns:
        A fresh generator.

    >>> generator(0, NODES, 3).random() == generator(0, NODES, 3).random() != generator(0, NODES, 4).random()
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, block)))


def spans(total: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Cut ``total`` things into blocks.

    Args:
        total: how many there are.
        size: of a block, at most.

    Yields:
        (number, start, stop) of each block.

    >>> list(spans(5, 2))
    [(0, 0, 2), (1, 2, 4), (2, 4, 5)]
    """
    for number, start in enumerate(range(0, total, size)):
        yield number, start, min(start + size, total)
