"""What "auto" means for a parameter: a rule by the features and the edges, which needs no labels."""

from __future__ import annotations

from ncgc.graph.features import DENSE


def automatic_norm(density: float) -> str | None:
    """LayerNorm where features are dense, none where they are sparse.

    Dense rows (bags of 250 words in 750, pixels, measurements) reach the hidden layer with very different lengths, and
    learning is slow and jumpy without a norm; on sparse words a norm takes away what the length says.

    >>> automatic_norm(0.35), automatic_norm(0.01)
    ('layer', None)
    """
    return "layer" if density >= DENSE else None


def automatic_input_dropout(density: float) -> float:
    """Half the entries where features are sparse, none where they are dense.

    A document without half its words is still a document on its subject; a measurement without half its columns is noise.

    >>> automatic_input_dropout(0.35), automatic_input_dropout(0.01)
    (0.0, 0.5)
    """
    return 0.0 if density >= DENSE else 0.5


MANY = 6.0  # mean neighbours from which a graph is dense (PubMed: 4.5; CS: 8.9)
STRONG, WEAK = 5e-3, 5e-4


def automatic_weight_decay(mean_degree: float, density: float) -> float:
    """Strong where a node has few neighbours, weak where it has many; with dense features, and so a norm, strong.

    The mean of d rows of words that have little in common is 1/√d as long as each, so weights must be larger to say the
    same, and a decay that is right for 4 neighbours holds them down with 9. After a norm their scale does not matter.

    >>> automatic_weight_decay(3.9, 0.01), automatic_weight_decay(8.9, 0.01), automatic_weight_decay(31.1, 0.35)
    (0.005, 0.0005, 0.005)
    """
    return WEAK if mean_degree >= MANY and density < DENSE else STRONG
