"""The data sets known by name: documented sizes, files, and the family, which decides how splits are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from ncgc.errors import DatasetError

PLANETOID_PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")


@dataclass(frozen=True)
class DatasetInfo:
    """One data set: its documented sizes, where it comes from, and where it was found.

    Attributes:
        name: the key `load_dataset` takes, in lower case.
        title: the usual spelling, also the name of the folder its files lie in.
        family: "citation", "amazon", "coauthor" or "embedded" (comes with a library, no files).
        nodes: documented number of nodes.
        edges: documented number of edges; an undirected edge counts once.
        features: documented number of features.
        classes: documented number of classes.
        density: fraction of the n×D feature entries that are not zero.
        source: a sentence on where it comes from.
        path: the raw folder it was found in; None where there is none.
        here: whether it loads without a download.
    """

    name: str
    title: str
    family: str
    nodes: int
    edges: int
    features: int
    classes: int
    density: float
    source: str
    path: Path | None = None
    here: bool = False

    @property
    def mean_degree(self) -> float:
        """Neighbours of a node, on average.

        >>> round(find_info("cora").mean_degree, 1)
        3.9
        """
        return 2 * self.edges / self.nodes

    @property
    def files(self) -> tuple[str, ...]:
        """The file names that have to lie in ``<root>/<title>/raw``.

        >>> find_info("photo").files
        ('amazon_electronics_photo.npz',)
        """
        if self.family == "citation":
            return tuple(f"ind.{self.name}.{part}" for part in PLANETOID_PARTS)
        if self.family == "amazon":
            return (f"amazon_electronics_{self.name}.npz",)
        if self.family == "coauthor":
            return (f"ms_academic_{self.name[:3]}.npz",)
        return ()


_PLANETOID = "PyG's Planetoid data on github.com (kimiyoung/planetoid), downloaded into the cache folder."
_SHCHUR = "PyG's {} data on github.com (shchur/gnn-benchmark), downloaded into the cache folder."
_AMAZON, _COAUTHOR = _SHCHUR.format("Amazon"), _SHCHUR.format("Coauthor")
_DIGITS = "Built from the handwritten digits inside scikit-learn; nothing to download."

CATALOGUE: dict[str, DatasetInfo] = {
    info.name: info
    for info in (
        DatasetInfo("digits", "Digits", "embedded", 1797, 12339, 64, 10, 0.5107, _DIGITS),
        DatasetInfo("cora", "Cora", "citation", 2708, 5278, 1433, 7, 0.0127, _PLANETOID),
        DatasetInfo("citeseer", "CiteSeer", "citation", 3327, 4552, 3703, 6, 0.0085, _PLANETOID),
        DatasetInfo("pubmed", "PubMed", "citation", 19717, 44324, 500, 3, 0.1002, _PLANETOID),
        DatasetInfo("computers", "Computers", "amazon", 13752, 245861, 767, 10, 0.3484, _AMAZON),
        DatasetInfo("photo", "Photo", "amazon", 7650, 119081, 745, 8, 0.3474, _AMAZON),
        DatasetInfo("cs", "CS", "coauthor", 18333, 81894, 6805, 15, 0.0088, _COAUTHOR),
        DatasetInfo("physics", "Physics", "coauthor", 34493, 247962, 8415, 5, 0.0039, _COAUTHOR),
    )
}


def find_info(name: str) -> DatasetInfo:
    """The entry of a data set.

    Args:
        name: in any case.

    Returns:
        The entry.

    Raises:
        DatasetError: if the name is unknown; suggests the nearest.

    >>> find_info("CiteSeer").nodes
    3327
    >>> find_info("coraa")
    Traceback (most recent call last):
    ncgc.errors.DatasetError: Unknown data set 'coraa' (did you mean 'cora'?); the known ones are digits, cora, citeseer, pubmed, computers, photo, cs, physics.
    """
    key = name.strip().lower() if isinstance(name, str) else name
    if isinstance(key, str) and key in CATALOGUE:
        return CATALOGUE[key]
    near = get_close_matches(str(key), CATALOGUE, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise DatasetError(f"Unknown data set {name!r}{hint}; the known ones are {', '.join(CATALOGUE)}.")


def family_of(name: str) -> str:
    """The family of a data set.

    Args:
        name: of a graph.

    Returns:
        "citation", "amazon", "coauthor" or "embedded"; "custom" for a graph that is no known data set.

    >>> family_of("cora"), family_of("my customers")
    ('citation', 'custom')
    """
    info = CATALOGUE.get(name)
    return "custom" if info is None else info.family
