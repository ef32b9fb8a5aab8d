"""A graph in parts: who owns which node, what else a part needs to see, and exact inference block by block."""

from ncgc.training.engines.partition.halo import WHOLE, Ownership, Part, make_part, propagation_rows
from ncgc.training.engines.partition.metis import check_pymetis, partition

__all__ = ["WHOLE", "Ownership", "Part", "check_pymetis", "make_part", "partition", "propagation_rows"]
