"""FetchedEmbeddings: the last look of a process that has some of the nodes; rows of others come from their owners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ncgc.training.engines.distributed.halo_exchange import HaloPlan
from ncgc.training.engines.distributed.rank_operators import RankOperators
from ncgc.training.engines.partition import Part
from ncgc.training.engines.partition.halo import make_part
from ncgc.training.engines.partition.historical_embeddings import HistoricalEmbeddings


class FetchedEmbeddings(HistoricalEmbeddings):
    """What :class:`HistoricalEmbeddings` is for all nodes, for those of a process and all neighbours of its parts and their halos.

    While the look is watched, every product with P leaves what it multiplied: the own rows are at hand, the others are asked for in
    one message a product (with no hops those of the halo of the look, and again as many numbers).

    Args:
        operators: of the process, that the look is made with.
        adjacency: n×n, of the whole graph.
        owned: the nodes of each of the process's parts.
        hops: of their halos.
    """

    def __init__(self, operators: RankOperators, adjacency: sparse.csr_array, owned: Sequence[np.ndarray], hops: int):
        own, needed = operators.part.owned, np.zeros(adjacency.shape[0], dtype=bool)
        for nodes in owned:
            part = make_part(adjacency, nodes, hops)
            needed[part.nodes] = True
            needed[adjacency[part.nodes].indices] = True
        needed[own] = False
        others = np.flatnonzero(needed)
        self._look = operators.plan
        self._plan = HaloPlan(operators.plan.group, Part(own, others, len(own)), operators.owner)
        super().__init__(np.concatenate([own, others[self._plan.order]]))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Inside, the products of one walk through the network are kept."""
        number = 0

        def keep(own: Tensor) -> None:
            nonlocal number
            self.keep(number, torch.cat([own, self._plan.fetch(own)()]))
            number += 1

        self._look.seen = keep
        try:
            yield
        finally:
            self._look.seen = None
