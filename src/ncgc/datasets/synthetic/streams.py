"""Where randomness comes from: a generator for every block, by the seed, by what is drawn, and by the block's number.

No block waits for another's draws, and nothing global is seeded.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

# What is drawn; a number here is part of what a seed means and never changes.
NODES, SHARES, INSIDE, OUTSIDE, TOPICS, WORDS, LABELLED = range(7)


def generator(seed: int, what: int, block: int = 0) -> np.random.Generator:
    """The generator of one block: ``SeedSequence(seed)``, its child ``what``, the child ``block`` of that.

    >>> generator(0, NODES, 3).random() == generator(0, NODES, 3).random() != generator(0, NODES, 4).random()
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(what, block)))


def spans(total: int, size: int) -> Iterator[tuple[int, int, int]]:
    """(number, start, stop) of the blocks of at most ``size`` that make up ``total``.

    >>> list(spans(5, 2))
    [(0, 0, 2), (1, 2, 4), (2, 4, 5)]
    """
    for number, start in enumerate(range(0, total, size)):
        yield number, start, min(start + size, total)
