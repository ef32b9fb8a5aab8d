"""Active learning: which nodes to label next. The best are uncertain and have uncertain nodes around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from ncgc.errors import ParameterError
from ncgc.graph import Graph

RESTART, STEPS = 0.2, 10  # of the random walk that measures how far a label would reach
NEIGHBOUR = 0.5  # what is left of a score for each neighbour that was chosen before


@dataclass(frozen=True)
class NextLabel:
    """A node worth labelling.

    Attributes:
        node: its number.
        score: how much its label is worth, from 0 to 1: uncertainty times reach.
        uncertainty: entropy of its probabilities; 1 where all classes are equally likely.
        reach: uncertainty around it that its label would reach; 1 for the node with the most.
    """

    node: int
    score: float
    uncertainty: float
    reach: float


def suggest_labels(graph: Graph, probabilities: np.ndarray, given: np.ndarray, top: int = 20) -> list[NextLabel]:
    """The unlabelled nodes i with the highest u_i · (Π·u)_i, best first.

    u_i is the entropy of p_i over log K, and Π = Σ_t a(1−a)^t·Â^t a random walk over the symmetrically normalised
    adjacency that restarts with probability a = 0.2: a label spreads to the nodes that the walk reaches, so (Π·u)_i is
    what there is to learn around i. A chosen node halves the score of its neighbours, or all suggestions would be in
    one place.

    Args:
        graph: the graph.
        probabilities: (n, K) probabilities of all nodes, best calibrated.
        given: (n,) classes, -1 where a node has no label yet.
        top: how many nodes at most.

    Returns:
        The nodes with their scores, best first.

    Raises:
        ParameterError: if `top` is below 1.

    >>> graph = Graph.from_edges([[0, 1], [1, 2], [2, 3]], np.eye(4), labels=[0, -1, -1, 1])
    >>> p = np.array([[1.0, 0.0], [0.5, 0.5], [0.4, 0.6], [0.0, 1.0]])
    >>> [one.node for one in suggest_labels(graph, p, graph.labels, top=5)]
    [1, 2]
    """
    if top < 1:
        raise ParameterError(f"The number of nodes to suggest must be 1 or more. Got {top} instead.")
    n, classes = probabilities.shape
    logs = np.log(np.maximum(probabilities, np.finfo(float).tiny))
    uncertainty = np.maximum(-(probabilities * logs).sum(axis=1) / np.log(max(classes, 2)), 0) + 0.0  # and no -0.0
    free = np.flatnonzero(np.asarray(given) < 0)
    uncertain = np.zeros(n)
    uncertain[free] = uncertainty[free]  # a label that is known teaches nothing
    reach = _random_walk(graph.adjacency, uncertain)
    reach /= max(float(reach[free].max(initial=0.0)), np.finfo(float).tiny)
    scores = uncertain * reach
    indptr, indices = graph.adjacency.indptr, graph.adjacency.indices
    chosen: list[NextLabel] = []
    left = np.zeros(n, dtype=bool)
    left[free] = True
    for _ in range(min(top, len(free))):
        node = int(np.where(left, scores, -1.0).argmax())
        chosen.append(NextLabel(node, float(scores[node]), float(uncertainty[node]), float(reach[node])))
        left[node] = False
        scores[indices[indptr[node] : indptr[node + 1]]] *= NEIGHBOUR
    return chosen


def _random_walk(adjacency: sparse.csr_array, start: np.ndarray) -> np.ndarray:
    """(Π·start) with Â = D^−½ (A + I) D^−½."""
    n = adjacency.shape[0]
    looped = adjacency.astype(np.float64) + sparse.eye_array(n, format="csr")
    scale = 1 / np.sqrt(looped.sum(axis=1))
    now, total = start.astype(np.float64), RESTART * start
    for _ in range(STEPS):
        now = (1 - RESTART) * scale * (looped @ (scale * now))
        total = total + RESTART * now
    return np.asarray(total)


def suggestions_frame(graph: Graph, probabilities: np.ndarray, chosen: Sequence[NextLabel]) -> pd.DataFrame:
    """A table of the nodes worth labelling: id, score and its parts, and what the model would predict.

    Args:
        graph: the graph.
        probabilities: (n, K) probabilities of all nodes.
        chosen: the nodes, in the order of the table.

    Returns:
        One row per node, with the columns id, score, uncertainty, reach, guess and confidence.
    """
    ids, names = names_of(graph), [str(name) for name in graph.classes.tolist()]
    nodes = [one.node for one in chosen]
    return pd.DataFrame(
        {
            "id": [ids[node] for node in nodes],
            "score": [one.score for one in chosen],
            "uncertainty": [one.uncertainty for one in chosen],
            "reach": [one.reach for one in chosen],
            "guess": [names[int(probabilities[node].argmax())] for node in nodes],
            "confidence": [float(probabilities[node].max()) for node in nodes],
        }
    )


def names_of(graph: Graph) -> np.ndarray:
    """The ids of the nodes, or their numbers where they have no ids.

    Args:
        graph: the graph.

    Returns:
        (n,) ids.
    """
    return np.arange(graph.num_nodes) if graph.node_ids is None else graph.node_ids
