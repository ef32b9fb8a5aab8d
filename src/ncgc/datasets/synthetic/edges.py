"""The edges of a block model, block by block: the exact number, no duplicates, no self-loops.

Nodes stand at places sorted by class (see ``nodes.py``), and the edges of a place are those to later places. A block
holds the edges of a stretch of places, so that an edge can occur in one block only, which finds its duplicates by
itself. The number of edges of every stretch is drawn first, from the mass of its pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ncgc.datasets.synthetic.model import BlockModel
from ncgc.datasets.synthetic.nodes import INSIDE, OUTSIDE, SHARES, Nodes, generator, spans
from ncgc.errors import ParameterError

MOST_ROUNDS = 500
FULLEST = 0.5  # fraction of all pairs that may be edges; above it, drawing finds few new ones


def edge_blocks(model: BlockModel, nodes: Nodes) -> Iterator[np.ndarray]:
    """Draw the edges of all nodes, block by block.

    Args:
        model: the block model.
        nodes: its nodes.

    Yields:
        (m_b, 2) int32 node numbers, the smaller first; the order of rows follows the hidden classes.

    Raises:
        ParameterError: if the edges are too many for the pairs of nodes.

    >>> from ncgc.datasets.synthetic.nodes import draw_nodes
    >>> model = BlockModel(num_nodes=1000, num_classes=2, homophily=0.7)
    >>> nodes = draw_nodes(model)
    >>> edges = np.concatenate(list(edge_blocks(model, nodes)))
    >>> len(edges), float((nodes.labels[edges[:, 0]] == nodes.labels[edges[:, 1]]).mean())
    (5000, 0.7)
    """
    _check_room(model, nodes)
    shares = generator(model.seed, SHARES)
    wanted = {INSIDE: model.edges_inside, OUTSIDE: model.num_edges - model.edges_inside}
    counts = {kind: _shared(count, _weights(model, nodes, kind), shares) for kind, count in wanted.items()}
    for block, start, stop in spans(model.num_nodes, model.nodes_a_stretch):
        pairs = [_draw(model, _Stretch(nodes, start, stop, kind), int(counts[kind][block]), block) for kind in wanted]
        one, other = nodes.order[np.concatenate(pairs, axis=1)]
        yield np.stack([np.minimum(one, other), np.maximum(one, other)], axis=1)


class _Stretch:
    """The places start..stop-1, and the mass of the partners of each: later ones of its class, or all later classes.

    low, high: (s,) partners of a place have a mass between these. weight: (s,) the expected edges, up to a factor.
    """

    def __init__(self, nodes: Nodes, start: int, stop: int, kind: int):
        self.nodes, self.start, self.kind = nodes, start, kind
        number = np.searchsorted(nodes.ends, np.arange(start, stop), side="right")
        own = nodes.mass[start:stop]
        factor = np.diff(own, prepend=nodes.mass[start - 1] if start else 0.0)
        tops = nodes.tops
        if kind == INSIDE:
            self.low, self.high = own, tops[number]
            self.weight = factor * (self.high - self.low) / np.diff(tops, prepend=0.0)[number]
        else:
            self.low, self.high = tops[number], np.full(stop - start, tops[-1])
            self.weight = factor * (self.high - self.low)

    def draw(self, count: int, random: np.random.Generator) -> np.ndarray:
        """About ``count`` pairs, perhaps with duplicates, each as the number place·n + partner."""
        times = _shared(count, self.weight, random)
        at = np.repeat(np.arange(len(times)), times)
        low = self.low[at]
        partner = np.searchsorted(self.nodes.mass, low + random.random(count) * (self.high[at] - low), side="right")
        place = at + self.start
        n = len(self.nodes.mass)
        keep = (partner > place) & (partner < n)  # rounding at the end of a class
        keys: np.ndarray = (place * n + partner)[keep]
        return keys


def _weights(model: BlockModel, nodes: Nodes, kind: int) -> np.ndarray:
    """(blocks,) the edges inside (or between) classes that each stretch is expected to have, up to a factor."""
    cuts = spans(model.num_nodes, model.nodes_a_stretch)
    return np.array([_Stretch(nodes, start, stop, kind).weight.sum() for _, start, stop in cuts])


def _shared(count: int, weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """(k,) ``count`` things dealt out by weight. Zero weights are left out: numpy would give them what rounding leaves.

    >>> _shared(5, np.array([0.0, 2.0, 0.0]), np.random.default_rng(0))
    array([0, 5, 0])
    """
    dealt = np.zeros(len(weights), dtype=np.int64)
    able = weights > 0
    if count:
        dealt[able] = random.multinomial(count, weights[able] / weights[able].sum())
    return dealt


def _draw(model: BlockModel, stretch: _Stretch, count: int, block: int) -> np.ndarray:
    """(2, count) different pairs of places; duplicates are drawn again until there are enough."""
    random = generator(model.seed, stretch.kind, block)
    n = model.num_nodes
    keys = np.zeros(0, dtype=np.int64)
    for _ in range(MOST_ROUNDS):
        if len(keys) == count:
            return np.stack(np.divmod(keys, n))
        keys = _distinct(np.concatenate([keys, stretch.draw(count - len(keys), random)]))
    raise ParameterError(
        f"No {model.num_edges:,} different edges were found for {n:,} nodes of these degrees; "
        "give fewer edges, more nodes, or a larger degree exponent."
    )


def _distinct(keys: np.ndarray) -> np.ndarray:
    keys.sort()
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _check_room(model: BlockModel, nodes: Nodes) -> None:
    """Raise a ParameterError unless there are clearly more pairs than edges, inside classes and between them."""
    n, sizes = model.num_nodes, nodes.sizes.astype(object)  # whole numbers of any size
    inside = int((sizes * (sizes - 1) // 2).sum())
    for edges, pairs, where in (
        (model.edges_inside, inside, "inside"),
        (model.num_edges - model.edges_inside, n * (n - 1) // 2 - inside, "between"),
    ):
        if edges > FULLEST * pairs:
            raise ParameterError(
                f"{edges:,} edges {where} classes are more than half of the {pairs:,} pairs of nodes there; "
                "give fewer edges, more nodes, or another homophily."
            )
