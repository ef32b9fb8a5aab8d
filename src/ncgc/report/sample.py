"""Which nodes the map shows when there are too many to show."""

from __future__ import annotations

import numpy as np

from ncgc.report.data import ReportData

MOST = 50_000  # up to here every node is shown
SAMPLE = 20_000  # of more, about so many
SUGGESTIONS = 50  # rows of the table of nodes to label next
_MOST_LABELLED = 40_000  # more labelled nodes than this are themselves drawn from


def shown_nodes(data: ReportData) -> np.ndarray:
    """The nodes on the map, ascending: all of up to 50,000; of more, a draw with every labelled and suggested node in it.

    The draw has 20,000 nodes, or 10,000 more than are labelled. Beyond 40,000 labelled nodes these are drawn from as well.
    """
    n = len(data.given)
    if n <= MOST:
        return np.arange(n)
    generator = np.random.default_rng(data.seed)
    labelled = np.flatnonzero(data.given >= 0)
    if len(labelled) > _MOST_LABELLED:
        labelled = generator.choice(labelled, _MOST_LABELLED, replace=False)
    suggested = np.array([suggestion.node for suggestion in data.suggestions[:SUGGESTIONS]], dtype=np.int64)
    kept = np.union1d(labelled, suggested)
    others = np.setdiff1d(np.arange(n), kept, assume_unique=True)
    wanted = max(SAMPLE, len(kept) + SAMPLE // 2) - len(kept)
    drawn = generator.choice(others, min(wanted, len(others)), replace=False)
    return np.sort(np.concatenate([kept, drawn]))
