"""Reports to test with: small by default, hostile or large where a test needs it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ncgc.report import ReportData, Suggestion

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"'&<!--",
    "\u200f\u202eright to left\u2028and\u2029on",
    "x" * 5000,
    "",
    "{{ 7 * 7 }}${7*7}",
    "nul\x00half\ud800",
]


@pytest.fixture(scope="session")
def hostile() -> list[str]:
    """Names that a page must show as they are, and nothing else."""
    return list(HOSTILE)


@pytest.fixture(scope="session")
def make_data():
    """A report on n nodes in k round groups; any field can be given."""

    def make(n: int = 60, k: int = 3, **fields: Any) -> ReportData:
        generator = np.random.default_rng(0)
        truth = np.arange(n) % k
        angle = 2 * np.pi * truth / k
        places = np.stack([np.cos(angle), np.sin(angle)], axis=1) + generator.normal(scale=0.22, size=(n, 2))
        scores = 3 * np.eye(k)[truth] + generator.normal(size=(n, k))
        probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        given = np.where(np.arange(n) < 2 * k, truth, -1)
        known: dict[str, Any] = {
            "title": "A small graph",
            "created": "1 May 2026",
            "version": "0.1.0",
            "seconds": 4.2,
            "classes": [f"class {i}" for i in range(k)],
            "node_ids": [f"n{i}" for i in range(n)],
            "given": given,
            "predicted": probabilities.argmax(axis=1),
            "probabilities": probabilities,
            "embedding2d": places.astype(np.float32),
        }
        return ReportData(**{**known, **fields})

    return make


@pytest.fixture(scope="session")
def full_data(make_data):
    """A report with every section."""

    def make(**fields: Any) -> ReportData:
        from ncgc.report import Abstain, Reliability

        data = make_data(**{key: fields.pop(key) for key in ("n", "k") if key in fields})
        n, k = data.probabilities.shape
        truth = np.where(data.given < 0, np.arange(n) % k, -1)
        held = truth >= 0
        known: dict[str, Any] = {
            **{name: getattr(data, name) for name in data.__dataclass_fields__},
            "truth": truth,
            "summary_rows": [("nodes", n), ("weighted", False), ("mean degree", 3.25)],
            "notes": ["edges.csv: 2 rows repeat another."],
            "columns": [("year", "number", 1)],
            "history": {
                "epoch": [1, 2, 3, 4],
                "class": [2.0, 1.0, 0.5, 0.4],
                "total": [2.0, 1.0, 1.4, 1.2],
                "pl": [None, None, 0.9, 0.8],
                "val_accuracy": [0.3, 0.6, 0.7, 0.8],
                "seconds": [0.1, 0.1, 0.1, 0.1],
            },
            "best_epoch": 4,
            "reliability": Reliability.of(data.probabilities[held], truth[held], "Measured on held-out labels."),
            "abstain": Abstain(0.95, 0.4, 0),
            "suggestions": [
                Suggestion(n - 1, 0.7, "between two classes"),
                Suggestion(n // 2, 0.5, "far from any label"),
            ],
            "settings": {"backbone": "appnp", "hidden": 64, "norm": None},
            "changed": ["backbone"],
            "command": "ncgc label edges.csv --seed 0",
        }
        return ReportData(**{**known, **fields})

    return make
