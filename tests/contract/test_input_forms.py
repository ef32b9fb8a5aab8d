"""One graph in every form that is read, on every backbone: the same prediction, and edge weights that count."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from torch_geometric.data import Data

from ncgc import NCGC, Graph, io
from ncgc.io import as_graph, read_graph
from ncgc.nn import BACKBONES

BRIEF = {"hidden": 8, "epochs": 8, "warmup": 2, "ramp": 2}
CLASSES = ["eggs", "ham", "spam"]
OPTIONS = {"gat": {"heads": 2}}


class Parts:
    """A weighted graph as its parts: edges in one direction, features, ids and the labels of half the nodes."""

    def __init__(self, weights=None):
        generator = np.random.default_rng(3)
        block = np.arange(40) % 3
        chance = np.where(block[:, None] == block, 0.3, 0.05)
        self.pairs = np.argwhere(np.triu(generator.random((40, 40)) < chance, 1))
        drawn = generator.integers(1, 9, len(self.pairs)) / 4
        self.weights = drawn if weights is None else weights(drawn)
        self.features = (np.eye(3)[block] + generator.normal(size=(40, 3))).astype(np.float32)
        self.labels = np.where(np.arange(40) < 20, block, -1)
        self.ids = [f"node {i}" for i in range(40)]

    @property
    def names(self):
        return [CLASSES[label] if label >= 0 else None for label in self.labels]

    def tables(self):
        nodes = pd.DataFrame({"id": self.ids, "label": self.names})
        ends = {name: np.array(self.ids)[self.pairs[:, side]] for side, name in enumerate(("source", "target"))}
        return nodes, pd.DataFrame({**ends, "weight": self.weights})

    def networkx(self):
        graph = nx.Graph()
        for node, name in zip(self.ids, self.names, strict=True):
            graph.add_node(node, **({} if name is None else {"label": name}))
        for (a, b), weight in zip(self.pairs, self.weights, strict=True):
            graph.add_edge(self.ids[a], self.ids[b], weight=float(weight))
        return graph


def from_edges(parts, folder):
    return Graph.from_edges(parts.pairs, parts.features, parts.labels, weights=parts.weights, classes=CLASSES)


def from_csv(parts, folder):
    nodes, edges = parts.tables()
    nodes.to_csv(folder / "nodes.csv", index=False)
    edges.to_csv(folder / "edges.csv", index=False)
    np.save(folder / "x.npy", parts.features)
    return read_graph(folder / "nodes.csv", folder / "edges.csv", features=folder / "x.npy").graph


def from_tsv(parts, folder):
    nodes, edges = parts.tables()
    nodes.to_csv(folder / "nodes.tsv", index=False, sep="\t")
    edges.to_csv(folder / "edges.tsv", index=False, sep="\t")
    np.save(folder / "x.npy", parts.features)
    return read_graph(folder / "nodes.tsv", folder / "edges.tsv", features=folder / "x.npy").graph


def from_gzip(parts, folder):
    nodes, edges = parts.tables()
    nodes.to_csv(folder / "nodes.csv.gz", index=False)
    edges.to_csv(folder / "edges.tsv.gz", index=False, sep="\t")
    np.save(folder / "x.npy", parts.features)
    return read_graph(folder / "nodes.csv.gz", folder / "edges.tsv.gz", features=folder / "x.npy").graph


def from_frames(parts, folder):
    np.save(folder / "x.npy", parts.features)
    return read_graph(*parts.tables(), features=folder / "x.npy").graph


def from_parquet(parts, folder):
    nodes, edges = parts.tables()
    nodes.to_parquet(folder / "nodes.parquet")
    edges.to_parquet(folder / "edges.parquet")
    sparse.save_npz(folder / "x.npz", sparse.csr_array(parts.features))
    return read_graph(folder / "nodes.parquet", folder / "edges.parquet", features=folder / "x.npz").graph


def from_graphml(parts, folder):
    nx.write_graphml(parts.networkx(), folder / "g.graphml")
    np.save(folder / "x.npy", parts.features)
    return read_graph(folder / "g.graphml", features=folder / "x.npy").graph


def from_our_graphml(parts, folder):
    io.write_graphml(from_edges(parts, folder), folder / "ours.graphml")
    return io.read_graphml(folder / "ours.graphml").graph


def from_our_networkx(parts, folder):
    return as_graph(io.to_networkx(from_edges(parts, folder)))


def from_our_scipy(parts, folder):
    return Graph.from_scipy(*from_edges(parts, folder).to_scipy(), classes=CLASSES)


def from_networkx(parts, folder):
    return as_graph(parts.networkx(), features=parts.features)


def from_scipy(parts, folder):
    adjacency = sparse.coo_array((parts.weights, parts.pairs.T), shape=(40, 40))
    return Graph.from_scipy(adjacency, parts.features, parts.labels, classes=CLASSES)


def from_pyg(parts, folder):
    """As PyG has it: both directions of every edge, and tensors."""
    both = np.concatenate([parts.pairs, parts.pairs[:, ::-1]])
    data = Data(
        x=torch.from_numpy(parts.features),
        edge_index=torch.from_numpy(both.T.copy()),
        y=torch.from_numpy(parts.labels),
        edge_weight=torch.from_numpy(np.tile(parts.weights, 2)),
    )
    return as_graph(data, classes=CLASSES)


def from_our_pyg(parts, folder):
    return as_graph(io.to_pyg(from_edges(parts, folder)), classes=CLASSES)


FORMS = (
    from_csv, from_tsv, from_gzip, from_frames, from_parquet, from_graphml, from_networkx, from_scipy, from_pyg,
    from_our_graphml, from_our_networkx, from_our_scipy, from_our_pyg,
)  # fmt: skip


def fitted(backbone, graph):
    return NCGC(backbone, **BRIEF, **OPTIONS.get(backbone, {})).fit(graph)


@pytest.fixture(scope="module", params=BACKBONES)
def expected(request, tmp_path_factory):
    """A backbone and what it says of the graph given as arrays."""
    return request.param, fitted(request.param, from_edges(Parts(), tmp_path_factory.mktemp("forms")))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_form_gives_the_same_prediction(expected, form, tmp_path):
    backbone, model = expected
    graph = form(Parts(), tmp_path)
    assert graph.weighted
    other = fitted(backbone, graph)
    np.testing.assert_array_equal(other.decision_function(), model.decision_function())
    assert other.predict().tolist() == model.predict().tolist()
    assert other.classes_.tolist() == CLASSES


def test_every_backbone_uses_the_weights(expected, tmp_path):
    """At training and at prediction; weights that are all one are those of no weights at all."""
    backbone, model = expected
    reweighed = from_edges(Parts(lambda drawn: drawn[::-1] * 2), tmp_path)
    assert not np.allclose(model.decision_function(reweighed), model.decision_function())
    assert not np.allclose(fitted(backbone, reweighed).decision_function(), model.decision_function())
    ones = from_csv(Parts(np.ones_like), tmp_path)
    plain = Graph.from_edges(Parts().pairs, Parts().features, Parts().labels, classes=CLASSES)
    np.testing.assert_array_equal(model.decision_function(ones), model.decision_function(plain))


def test_columns_give_the_same_features_from_every_table(tmp_path):
    """Numbers and categories through CSV, Parquet, GraphML and networkx."""
    parts = Parts()
    nodes, edges = parts.tables()
    nodes["age"], nodes["town"] = parts.features[:, 0].astype(float), np.array(["Ulm", "Bern"])[np.arange(40) // 3 % 2]
    nodes.to_csv(tmp_path / "n.csv", index=False)
    edges.to_csv(tmp_path / "e.csv", index=False)
    nodes.to_parquet(tmp_path / "n.parquet")
    edges.to_parquet(tmp_path / "e.parquet")
    graph = parts.networkx()
    for row in nodes.itertuples():
        graph.nodes[row.id].update(age=row.age, town=row.town)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    forms = [
        read_graph(tmp_path / "n.csv", tmp_path / "e.csv").graph,
        read_graph(tmp_path / "n.parquet", tmp_path / "e.parquet").graph,
        read_graph(nodes, edges).graph,
        read_graph(tmp_path / "g.graphml").graph,
        as_graph(graph),
    ]
    first, *others = [fitted("gcn", form).decision_function() for form in forms]
    assert forms[0].num_features == 3
    for other in others:
        np.testing.assert_array_equal(other, first)
