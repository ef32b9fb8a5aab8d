"""The settings of a generated graph: sizes, edges, features and labels, each declared once with its range and help."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ncgc.errors import ParameterError
from ncgc.graph.validation import MOST_CLASSES
from ncgc.params.parameter import Parameter

OWNER = "ncgc generate"
LARGEST = 2**31 - 1  # a node's number is an int32 on disk
MOST_TEST = 10_000
EDGES_A_BLOCK = 1 << 20  # block sizes are part of what a seed means and never change
WORDS_A_BLOCK = 1 << 20
NODES_A_BLOCK = 1 << 16


@dataclass(frozen=True)
class BlockModel:
    """A degree-corrected stochastic block model (Karrer & Newman 2011) with words that depend on the class.

    With θ the degree factors and w_a the sum of θ over class a, an edge joins i and j with a probability in proportion
    to θ_i·θ_j·B, where B is h/w_a if both are of class a, and the same for all pairs of different classes; the B's are
    such that a fraction h of the edges lies inside classes. The expected degree is proportional to θ: inside a class
    exactly, between classes up to the factor 1 − w_a/w.

    Attributes:
        num_nodes: n.
        num_classes: K.
        mean_degree: neighbours a node has on average; the graph has n·mean_degree/2 edges, all different.
        homophily: h, the fraction of edges inside a class; at 1/K edges carry no information on the class.
        degree_exponent: γ of the tail P(degree) ~ degree^−γ: θ is Pareto(γ − 1) with mean 1, capped where two hubs of a
            class would be joined more than once, at a degree of √(n·mean_degree/K). None: θ = 1.
        class_skew: the size of class k = 1..K is in proportion to k^−skew; at 0 all classes are of one size.
        num_features: D words.
        features_per_node: words drawn for a node; X is 1 where a word was drawn.
        feature_signal: fraction of a node's words from its class's topic (a tenth of all words, uniformly), the others
            from a background common to all (Zipf).
        labels_per_class: training nodes of each class.
        validation: validation nodes of each class.
        test: test nodes, of any class; "auto" for 10,000, at most half of the rest.
        seed: of all random draws.

    >>> BlockModel(num_nodes=1000, mean_degree=6).num_edges
    3000
    >>> BlockModel(homophily=2)
    Traceback (most recent call last):
    ...
    ncgc.errors.ParameterError: The 'homophily' parameter of ncgc generate must be a float in the range [0.0, 1.0]. Got 2 instead.
    """

    num_nodes: int = 10_000
    num_classes: int = 10
    mean_degree: float = 10.0
    homophily: float = 0.5
    degree_exponent: float | None = 2.5
    class_skew: float = 0.0
    num_features: int = 100
    features_per_node: int = 10
    feature_signal: float = 0.25
    labels_per_class: int = 20
    validation: int = 30
    test: int | str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, parameter in PARAMETERS.items():
            parameter.check(getattr(self, name), OWNER)
        if self.features_per_node > self.num_features:
            raise ParameterError(
                f"A node cannot have {self.features_per_node:,} of {self.num_features:,} features; "
                "give more features, or fewer a node."
            )
        if self.labelled > self.num_nodes:
            raise ParameterError(
                f"{self.num_classes:,} classes with {self.labels_per_class} labels and {self.validation} for validation, "
                f"and {self.num_test:,} for test, need {self.labelled:,} nodes, and there are {self.num_nodes:,}; "
                "give more nodes, or fewer labels."
            )
        if not self.num_edges:
            raise ParameterError(
                f"{self.num_nodes:,} nodes with a mean degree of {self.mean_degree:g} have no edge; give a larger one."
            )

    @property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        return round(self.num_nodes * self.mean_degree / 2)

    @property
    def edges_inside(self) -> int:
        """Number of edges that join two nodes of one class."""
        return round(self.homophily * self.num_edges)

    @property
    def num_test(self) -> int:
        """Number of test nodes; "auto" takes half of the nodes left, up to a limit."""
        rest = self.num_nodes - self.num_classes * (self.labels_per_class + self.validation)
        return max(min(MOST_TEST, rest // 2), 0) if self.test == "auto" else int(self.test)

    @property
    def labelled(self) -> int:
        """Number of labelled nodes: training, validation and test."""
        return self.num_classes * (self.labels_per_class + self.validation) + self.num_test

    @property
    def class_names(self) -> list[str]:
        """Names whose alphabetic order is that of their numbers.

        >>> BlockModel(num_classes=11, num_nodes=2000).class_names[:2]
        ['class 01', 'class 02']
        """
        width = len(str(self.num_classes))
        return [f"class {number:0{width}}" for number in range(1, self.num_classes + 1)]

    @property
    def nodes_a_stretch(self) -> int:
        """Nodes in a block of edges: about ``EDGES_A_BLOCK`` edges, and no more nodes than that."""
        return max(min(EDGES_A_BLOCK * self.num_nodes // self.num_edges, EDGES_A_BLOCK, self.num_nodes), 1)

    @property
    def nodes_a_page(self) -> int:
        """Nodes in a block of features: at most ``WORDS_A_BLOCK`` words."""
        return max(min(WORDS_A_BLOCK // self.features_per_node, NODES_A_BLOCK), 1)

    def to_dict(self) -> dict[str, Any]:
        """All settings by name."""
        return asdict(self)


def _table() -> dict[str, Parameter]:
    p, rows = Parameter, []
    rows += [
        p("num_nodes", 10_000, int, "number of nodes", "Size", low=2, high=LARGEST),
        p("num_classes", 10, int, "number of classes", "Size", low=2, high=MOST_CLASSES),
        p("class_skew", 0.0, float, "class sizes fall as 1/rank^skew; at 0 all are equal", "Size", low=0, high=10),
    ]  # fmt: skip
    rows += [
        p("mean_degree", 10.0, float, "mean number of neighbours", "Edges", low=0, open_low=True, high=1e6),
        p("homophily", 0.5, float, "fraction of edges inside a class", "Edges", low=0, high=1),
        p("degree_exponent", 2.5, float, "exponent of the degree tail, smaller is heavier; none for equal expected degrees", "Edges",
          low=2, open_low=True, high=100, optional=True),
    ]  # fmt: skip
    rows += [
        p("num_features", 100, int, "number of features; up to 128 are written dense", "Features", low=1, high=LARGEST),
        p("features_per_node", 10, int, "features per node", "Features", low=1, high=100_000),
        p("feature_signal", 0.25, float, "fraction of a node's features drawn from the topic of its class", "Features", low=0, high=1),
    ]  # fmt: skip
    rows += [
        p("labels_per_class", 20, int, "training nodes per class", "Labels", low=1),
        p("validation", 30, int, "validation nodes per class", "Labels", low=0),
        p("test", "auto", int, "test nodes; auto for 10,000, at most half of the rest", "Labels", low=0, words=("auto",)),
        p("seed", 0, int, "random seed", "Labels", low=0, high=2**32 - 1),
    ]  # fmt: skip
    return {row.name: row for row in rows}


PARAMETERS = _table()
