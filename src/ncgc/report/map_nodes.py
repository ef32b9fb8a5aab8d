"""The nodes on the map: which are shown, packed in sixteen bytes and an id each, so that the file stays small."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ncgc.report.data import ReportData
from ncgc.report.formatting import shortened

MOST = 50_000  # nodes up to which all are shown
SAMPLE = 20_000  # approximate number shown of more
SUGGESTIONS = 50  # rows of the table of nodes to label next
_MOST_LABELLED = 40_000  # labelled nodes up to which all are shown
EXACT = 2**53  # whole numbers from here on are not exact in JavaScript, and go as text
TOP = 3  # most probable classes that the tooltip shows


def shown_nodes(data: ReportData) -> np.ndarray:
    """The nodes on the map: all of up to 50,000; of more, a random sample with every labelled and suggested node.

    The sample has 20,000 nodes, or 10,000 more than are labelled. Of more than 40,000 labelled nodes, 40,000 are
    sampled.

    Args:
        data: the report's data.

    Returns:
        Node numbers, ascending.
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


def map_payload(data: ReportData) -> dict[str, Any] | None:
    """The map's nodes as JSON values, arrays in base64; None without positions.

    Positions are 16 bits per axis on a common scale, so that distances keep their proportion. Classes are 8 bits, 16
    where there are more than 254, with all bits set for none. Probabilities are 8 bits: 255 is one.

    Args:
        data: the report's data.

    Returns:
        What the page's script reads, by name.
    """
    if data.embedding2d is None:
        return None
    nodes = shown_nodes(data)
    wide = len(data.classes) > 254
    top, share = _most_probable(data.probabilities[nodes])
    return {
        "total": len(data.given),
        "shown": len(nodes),
        "allLabelled": bool((data.given >= 0).sum() == (data.given[nodes] >= 0).sum()),
        "wide": wide,
        "ids": _ids(data.node_ids, nodes),
        "place": _packed(_quantised(data.embedding2d[nodes]), "<u2"),
        "given": _classes(data.given[nodes], wide),
        "predicted": _classes(data.predicted[nodes], wide),
        "truth": None if data.truth is None else _classes(data.truth[nodes], wide),
        "confidence": _packed(_byte(data.confidence[nodes]), "u1"),
        "top": _classes(top, wide),
        "topShare": _packed(_byte(share), "u1"),
        "tops": top.shape[1],
    }


def positions(data: ReportData) -> dict[int, int]:
    """The position of each shown node in the map's list.

    Args:
        data: the report's data.

    Returns:
        Node number → position; empty without a map.
    """
    if data.embedding2d is None:
        return {}
    return {node: position for position, node in enumerate(shown_nodes(data).tolist())}


def _ids(node_ids: Any, nodes: np.ndarray) -> list[int | str] | None:
    """Ids of the nodes shown; None where they are 0, 1, 2, ..., which the page knows."""
    ids = [node_ids[node] for node in nodes.tolist()]
    ids = [
        int(name) if isinstance(name, int | np.integer) and abs(int(name)) < EXACT else shortened(name) for name in ids
    ]
    return None if ids == list(range(len(ids))) else ids


def _quantised(places: np.ndarray) -> np.ndarray:
    low, high = places.min(axis=0).astype(np.float64), places.max(axis=0).astype(np.float64)
    extent = float((high - low).max()) or 1.0
    margin = (extent - (high - low)) / 2  # the shorter side is centred
    return np.round(65535 * (places - low + margin) / extent)


def _most_probable(probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, ≤3) the most probable classes of each node, and their probabilities."""
    count = min(TOP, probabilities.shape[1])
    top = np.argpartition(-probabilities, count - 1, axis=1)[:, :count]
    share = np.take_along_axis(probabilities, top, axis=1)
    order = np.argsort(-share, axis=1, kind="stable")
    return np.take_along_axis(top, order, axis=1), np.take_along_axis(share, order, axis=1)


def _byte(shares: np.ndarray) -> np.ndarray:
    return np.round(255 * np.clip(shares, 0, 1))


def _classes(numbers: np.ndarray, wide: bool) -> str:
    none = 65535 if wide else 255
    return _packed(np.where(numbers < 0, none, numbers), "<u2" if wide else "u1")


def _packed(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()
