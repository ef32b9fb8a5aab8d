"""Block models small enough to look at whole."""

from __future__ import annotations

from typing import Any

import pytest

from ncgc.datasets.synthetic import BlockModel
from ncgc.datasets.synthetic import model as declared


@pytest.fixture
def make_model():
    """A model of 3,000 nodes and few labels; settings replace its own."""

    def make(**settings: Any) -> BlockModel:
        small = {"num_nodes": 3000, "num_classes": 5, "labels_per_class": 3, "validation": 4}
        return BlockModel(**{**small, **settings})

    return make


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few hundred, so that a small graph has many."""
    monkeypatch.setattr(declared, "EDGES_A_BLOCK", 700)
    monkeypatch.setattr(declared, "WORDS_A_BLOCK", 900)
