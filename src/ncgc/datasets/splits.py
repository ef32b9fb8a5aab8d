"""All ways to split nodes into training, validation and test, each drawn from its own generator.

Labels reach training only through :meth:`Split.training_labels`, which hides all but the training nodes'.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from ncgc.datasets.catalogue import CATALOGUE, family_of
from ncgc.datasets.split import Split
from ncgc.errors import SplitError
from ncgc.graph import Graph

if TYPE_CHECKING:
    import torch

KINDS = ("public", "paper", "random", "few")
PAPER_SEED = 123
LABELS_PER_CLASS, VALIDATION_PER_CLASS = 20, 30
CITATION_VALIDATION, CITATION_TEST = 500, 1000


def make_split(
    graph: Graph, kind: str, *, seed: int = 0, labels_per_class: int | None = None, val_per_class: int | None = None
) -> Split:
    """Split the labelled nodes of a graph.

    Args:
        graph: with labels.
        kind: "public", "paper", "random" or "few".
        seed: of the draw.
        labels_per_class: training nodes of each class; 20 for "random", 1 for "few" by default. Refused for "public"
            and "paper", whose sizes are fixed.
        val_per_class: validation nodes of each class; 30 for "random", 0 for "few" by default. Refused for "public"
            and "paper", and for "random" on citation graphs.

    Returns:
        The split, validated.

    Raises:
        SplitError: names what is missing and what to do.

    >>> graph = Graph.from_edges([], np.eye(8), labels=[0, 1] * 4)
    >>> make_split(graph, "few", labels_per_class=2, val_per_class=1)
    Split('few', train=4, val=2, test=2, seed=0)
    """
    if kind not in KINDS:
        near = get_close_matches(str(kind), KINDS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise SplitError(f"Unknown split {kind!r}{hint}; the known ones are {', '.join(KINDS)}.")
    if kind in ("public", "paper"):
        for option, value in (("labels_per_class", labels_per_class), ("val_per_class", val_per_class)):
            if value is not None:
                raise SplitError(
                    f"The '{kind}' split has fixed sizes, but {option} is {value}; drop it, or use 'random' or 'few'."
                )
        return public_split(graph) if kind == "public" else paper_split(graph, seed)
    if kind == "random":
        wanted = LABELS_PER_CLASS if labels_per_class is None else labels_per_class
        return random_split(graph, seed, wanted, val_per_class)
    return few_split(graph, 1 if labels_per_class is None else labels_per_class, seed, val_per_class or 0)


def public_split(graph: Graph) -> Split:
    """The split that comes with the data set (Planetoid's, or the masks of a PyG Data).

    Args:
        graph: with a public split.

    Returns:
        The split, validated.
    """
    if graph.public_split is None:
        known = ", ".join(name for name in CATALOGUE if family_of(name) == "citation")
        raise SplitError(f"The graph '{graph.name}' has no public split (only {known} have one); use 'random' instead.")
    train, val, test = graph.public_split
    return Split(train, val, test, name="public").validate(graph)


def paper_split(graph: Graph, seed: int = 0) -> Split:
    """The split of the paper's tables.

    Citation graphs: the same split for every ``seed``, `random_split` at 123. Others: 20 training and 30 validation
    nodes of each class, the rest test, drawn anew for each seed.

    Args:
        graph: with labels.
        seed: of the draw, except on citation graphs.

    Returns:
        The split, validated.
    """
    citation = family_of(graph.name) == "citation"
    drawn = random_split(graph, PAPER_SEED if citation else seed)
    return Split(drawn.train, drawn.val, drawn.test, name="paper", seed=PAPER_SEED if citation else seed)


def random_split(
    graph: Graph, seed: int = 0, labels_per_class: int = LABELS_PER_CLASS, val_per_class: int | None = None
) -> Split:
    """A random split with as many training nodes of each class.

    Citation graphs: the rest of all classes, in class order, is one pool, shuffled once: 500 validation and 1,000 test
    nodes. Others: ``val_per_class`` validation nodes of each class, the rest test.

    Args:
        graph: with labels.
        seed: of the draw.
        labels_per_class: training nodes of each class.
        val_per_class: validation nodes of each class, 30 by default; refused on citation graphs.

    Returns:
        The split, validated.
    """
    if family_of(graph.name) != "citation":
        per_class = VALIDATION_PER_CLASS if val_per_class is None else val_per_class
        return _per_class(graph, "random", seed, labels_per_class, per_class)
    if val_per_class is not None:
        raise SplitError(
            f"On the citation graph '{graph.name}' a 'random' split has {CITATION_VALIDATION} validation nodes in all, "
            f"but val_per_class is {val_per_class}; drop it, or use 'few'."
        )
    generator = _generator(seed)
    shuffled = _shuffled_classes(graph, generator, _count("labels_per_class", labels_per_class, 1), 0)
    pool = np.concatenate([nodes[labels_per_class:] for nodes in shuffled])
    needed = CITATION_VALIDATION + CITATION_TEST
    if len(pool) < needed:
        raise SplitError(
            f"The graph '{graph.name}' has {len(pool)} labelled nodes beside the training nodes, but the split of a "
            f"citation graph needs {needed}; use 'few', or give the graph another name."
        )
    pool = pool[_permutation(len(pool), generator)]
    train = np.concatenate([nodes[:labels_per_class] for nodes in shuffled])
    val, test = pool[:CITATION_VALIDATION], pool[CITATION_VALIDATION:needed]
    return Split(train, val, test, name="random", seed=seed).validate(graph)


def few_split(graph: Graph, labels_per_class: int, seed: int = 0, val_per_class: int = 0) -> Split:
    """A random split for few labels, the same on any graph; the rest of the labelled nodes is test.

    Args:
        graph: with labels.
        labels_per_class: training nodes of each class.
        seed: of the draw.
        val_per_class: validation nodes of each class.

    Returns:
        The split, validated.
    """
    return _per_class(graph, "few", seed, labels_per_class, val_per_class)


def _per_class(graph: Graph, name: str, seed: int, labels_per_class: int, val_per_class: int) -> Split:
    train_size, val_size = _count("labels_per_class", labels_per_class, 1), _count("val_per_class", val_per_class, 0)
    shuffled = _shuffled_classes(graph, _generator(seed), train_size, val_size)
    both = train_size + val_size
    train, val, test = (
        np.concatenate([nodes[part] for nodes in shuffled])
        for part in (slice(train_size), slice(train_size, both), slice(both, None))
    )
    return Split(train, val, test, name=name, seed=seed).validate(graph)


def _shuffled_classes(graph: Graph, generator: torch.Generator, train: int, val: int) -> list[np.ndarray]:
    """The nodes of every class that has any, in ascending class order, each shuffled; unlabelled nodes are in none."""
    members = [np.flatnonzero(graph.labels == k) for k in range(graph.num_classes)]
    members = [nodes for nodes in members if len(nodes)]
    if not members:
        raise SplitError(f"The graph '{graph.name}' has no labelled node; give some labels before splitting.")
    for nodes in members:
        if len(nodes) < train + val:
            fewer = max(1, min(len(others) for others in members) // 2)
            wanted = f"{train} training" + (f" and {val} validation" if val else "") + " nodes"
            which = graph.classes.tolist()[graph.labels[nodes[0]]]
            has = f"{len(nodes)} labelled node" + ("" if len(nodes) == 1 else "s")
            raise SplitError(
                f"The class {which!r} has {has} but the split "
                f"needs {wanted} of each class; ask for fewer (--split few --labels-per-class {fewer}) or label more."
            )
    return [nodes[_permutation(len(nodes), generator)] for nodes in members]


def _permutation(size: int, generator: torch.Generator) -> np.ndarray:
    import torch  # slow to import; the command line lists splits without it

    return torch.randperm(size, generator=generator).numpy()


def _generator(seed: int) -> torch.Generator:
    import torch

    return torch.Generator().manual_seed(_count("seed", seed, 0))


def _count(option: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SplitError(f"The '{option}' of a split must be a whole number from {least}. Got {value!r} instead.")
    return int(value)
