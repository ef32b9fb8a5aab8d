"""What "auto" means for a parameter of the network: a rule by the features, which needs no labels."""

from __future__ import annotations

DENSE = (
    0.2  # share of non-zeros from which features are measurements rather than words (PubMed, words: 0.10; Photo: 0.35)
)


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
