"""Split: training, validation and test nodes, and the only way labels reach training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ncgc.errors import SplitError
from ncgc.graph import Graph
from ncgc.graph.validation import is_whole

PARTS = {"train": "training", "val": "validation", "test": "test"}


@dataclass(frozen=True, eq=False)
class Split:
    """Disjoint sets of nodes: training, validation and test. A node may be in none.

    Attributes:
        train: int64 indices of the training nodes, sorted.
        val: int64 indices of the validation nodes, sorted; may be empty.
        test: int64 indices of the test nodes, sorted; may be empty.
        name: how it was made ("public", "paper", "random", "few", "labelled" or "custom").
        seed: of the generator it was drawn from; None if it was not drawn.

    >>> graph = Graph.from_edges([[0, 1]], np.eye(4), labels=[1, 0, 1, 0])
    >>> split = Split([1, 0], [2], [3]).validate(graph)
    >>> split
    Split('custom', train=2, val=1, test=1)
    >>> split.training_labels(graph)
    array([ 1,  0, -1, -1])
    """

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    name: str = "custom"
    seed: int | None = None

    def __post_init__(self) -> None:
        for part in PARTS:
            object.__setattr__(self, part, _as_nodes(getattr(self, part), PARTS[part]))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{part}={len(getattr(self, part))}" for part in PARTS)
        return f"Split({self.name!r}, {sizes}" + (")" if self.seed is None else f", seed={self.seed})")

    @classmethod
    def from_masks(cls, train_mask: Any, val_mask: Any = None, test_mask: Any = None) -> Split:
        """A Split from boolean masks, numpy or torch.

        Args:
            train_mask: (n,) bool.
            val_mask: (n,) bool; None for no validation nodes.
            test_mask: (n,) bool; None for no test nodes.

        Returns:
            The split.

        >>> Split.from_masks([True, False, True], test_mask=[False, True, False])
        Split('custom', train=2, val=0, test=1)
        """
        given = {"train": train_mask, "val": val_mask, "test": test_mask}
        masks = {part: np.asarray(mask) for part, mask in given.items() if mask is not None}
        for part, mask in masks.items():
            if mask.dtype != bool or mask.ndim != 1:
                raise SplitError(
                    f"The {PARTS[part]} mask must hold one true or false a node. Got {mask.dtype} of the shape {mask.shape} "
                    "instead; pass node numbers to Split(train, val, test)."
                )
        sizes = {len(mask) for mask in masks.values()}
        if len(sizes) > 1:
            raise SplitError(f"The masks have different lengths ({sorted(sizes)}); give each one entry a node.")
        train, val, test = (np.flatnonzero(masks.get(part, [])) for part in PARTS)
        return cls(train, val, test)

    @classmethod
    def from_labels(cls, graph: Graph) -> Split:
        """Train on every labelled node; no validation or test nodes.

        Args:
            graph: with labels of at least two classes.

        Returns:
            The split, validated.
        """
        none = np.zeros(0, dtype=np.int64)
        return cls(np.flatnonzero(graph.labels >= 0), none, none, name="labelled").validate(graph)

    def training_labels(self, graph: Graph) -> np.ndarray:
        """The labels that training may see.

        Args:
            graph: the graph of this split.

        Returns:
            (n,) a copy of the labels with -1 on all but the training nodes.
        """
        labels = np.full(graph.num_nodes, -1, dtype=np.int64)
        labels[self.train] = graph.labels[self.train]
        return labels

    def validate(self, graph: Graph) -> Split:
        """Check that the parts are disjoint, in range and labelled, and that at least two classes are trained on.

        Args:
            graph: the graph to split.

        Returns:
            The split itself.

        Raises:
            SplitError: names the first node that is wrong and what to do.
        """
        owner = np.full(graph.num_nodes, -1, dtype=np.int64)
        for number, (part, title) in enumerate(PARTS.items()):
            nodes = getattr(self, part)
            outside = nodes[(nodes < 0) | (nodes >= graph.num_nodes)]
            if len(outside):
                raise SplitError(
                    f"The {title} nodes contain {outside[0]}, but the nodes are numbered 0 to {graph.num_nodes - 1}; "
                    "remove it or split the graph anew."
                )
            repeated = nodes[1:][nodes[1:] == nodes[:-1]]
            if len(repeated):
                raise SplitError(f"Node {repeated[0]} is listed twice among the {title} nodes; list it once.")
            shared = nodes[owner[nodes] >= 0]
            if len(shared):
                other = list(PARTS.values())[owner[shared[0]]]
                raise SplitError(f"Node {shared[0]} is both a {other} and a {title} node; keep it in one of them.")
            owner[nodes] = number
            unknown = nodes[graph.labels[nodes] < 0]
            if len(unknown):
                raise SplitError(f"The {title} node {unknown[0]} has no label; label it or take it out of the split.")
        if not len(self.train):
            raise SplitError("The split has no training node; give at least one labelled node of two classes.")
        present = np.unique(graph.labels[self.train])
        if len(present) < 2:
            only = graph.classes.tolist()[present[0]]
            raise SplitError(
                f"All {len(self.train)} training nodes are of the class {only!r}; label a node of another class too."
            )
        return self


def _as_nodes(given: Any, title: str) -> np.ndarray:
    """Node numbers as a sorted int64 array of their own."""
    nodes = np.asarray(given)
    if nodes.ndim == 1 and nodes.size == 0:
        return np.zeros(0, dtype=np.int64)
    if nodes.ndim != 1 or not is_whole(nodes):
        remedy = "; turn a mask into node numbers with Split.from_masks." if nodes.dtype == bool else "."
        raise SplitError(
            f"The {title} nodes must be a list of whole node numbers. "
            f"Got {nodes.dtype} of the shape {nodes.shape} instead{remedy}"
        )
    return np.sort(nodes.astype(np.int64))
