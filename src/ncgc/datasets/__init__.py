"""Data sets by name, and every way to split their nodes."""

from ncgc.datasets.catalogue import DatasetInfo, family_of
from ncgc.datasets.digits import digits_graph
from ncgc.datasets.registry import available, load_dataset
from ncgc.datasets.split import Split
from ncgc.datasets.splits import few_split, make_split, paper_split, public_split, random_split

__all__ = [
    "DatasetInfo",
    "Split",
    "available",
    "digits_graph",
    "family_of",
    "few_split",
    "load_dataset",
    "make_split",
    "paper_split",
    "public_split",
    "random_split",
]
