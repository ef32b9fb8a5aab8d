"""Which nodes to label next: those the model is unsure of, in the midst of others it is unsure of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from ncgc.errors import ParameterError
from ncgc.graph import Graph

RETURN, STEPS = 0.2, 10  # of the walk that says whom a node stands for
NEIGHBOUR = 0.5  # what is left of a score for each neighbour that was chosen before


@dataclass(frozen=True)
class NextLabel:
    """A node worth labelling: how much, from 0 to 1, and the parts this comes from."""

    node: int
    score: float
    uncertainty: float  # entropy of its probabilities, 1 for all classes alike
    reach: float  # how much uncertainty it stands for, 1 for the node that stands for most


def suggest_labels(graph: Graph, probabilities: np.ndarray, given: np.ndarray, top: int = 20) -> list[NextLabel]:
    """The ``top`` unlabelled nodes by u_i · (Π·u)_i, best first.

    u_i is the entropy of p_i over log K, and Π = Σ_t a(1−a)^t·Â^t a walk that returns with chance a = 0.2 over the
    symmetrically normalised adjacency: a label spreads to those whom the walk reaches, so (Π·u)_i is what there is to
    learn around i. A chosen node halves the score of its neighbours, or all suggestions would sit in one place.

    Args:
        probabilities: (n, K), calibrated for the best effect.
        given: (n,) -1 where a node has no label yet.

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
    uncertain[free] = uncertainty[free]  # what is known needs no telling
    reach = _walk(graph.adjacency, uncertain)
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


def _walk(adjacency: sparse.csr_array, start: np.ndarray) -> np.ndarray:
    """(Π·start) with Â = D^−½ (A + I) D^−½."""
    n = adjacency.shape[0]
    looped = adjacency.astype(np.float64) + sparse.eye_array(n, format="csr")
    scale = 1 / np.sqrt(looped.sum(axis=1))
    now, total = start.astype(np.float64), RETURN * start
    for _ in range(STEPS):
        now = (1 - RETURN) * scale * (looped @ (scale * now))
        total = total + RETURN * now
    return np.asarray(total)


def suggestions_frame(graph: Graph, probabilities: np.ndarray, chosen: Sequence[NextLabel]) -> pd.DataFrame:
    """One row a node worth labelling: its id, what the model would say of it, and why to ask."""
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
    """(n,) the nodes' own ids, or their numbers."""
    return np.arange(graph.num_nodes) if graph.node_ids is None else graph.node_ids
