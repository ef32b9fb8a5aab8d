"""GraphML: read safely, written whole, and the same graph after both."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from ncgc import Graph
from ncgc.errors import InputError, OutputError
from ncgc.io import read_graph, read_graphml, write_graphml

DENSE = np.array([[0.1, 2], [3, 4], [5, -6e-9]], dtype=np.float32)
SPARSE = sparse.csr_array(np.eye(3, 40, k=5, dtype=np.float32) * 0.3)

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<graphml><graph edgedefault="undirected"><node id="&c;"/></graph></graphml>"""
OUTSIDE = """<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<graphml><graph edgedefault="undirected"><node id="&a;"/></graph></graphml>"""


@pytest.mark.parametrize("features", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_round_trip(tmp_path, features):
    graph = Graph.from_edges(
        [[0, 1], [1, 2]],
        features,
        [1, -1, 0],
        weights=[0.5, 2],
        classes=["ham", "spam"],
        node_ids=["A", "é <&>", "007"],
    )
    write_graphml(graph, tmp_path / "g.graphml")
    back = read_graphml(tmp_path / "g.graphml", strict=False).graph
    assert back.node_ids.tolist() == ["A", "é <&>", "007"]
    np.testing.assert_array_equal(back.labels, graph.labels)
    np.testing.assert_array_equal(back.adjacency.toarray(), graph.adjacency.toarray())
    assert type(back.features) is type(graph.features)
    assert abs(back.features - graph.features).max() == 0
    assert back.name == "g"
    found = read_graph(tmp_path / "g.graphml")
    assert found.tables == ("g.graphml",)
    assert found.graph.num_features == graph.num_features
    assert "2 of 3 nodes have a label in the column 'label', of 2 classes." in found.notes


def test_files_of_others(tmp_path):
    theirs = nx.DiGraph()
    for i in range(6):
        theirs.add_node(f"n{i}", **{"class": "ab"[i % 2]} if i < 4 else {}, age=1.5 * i, town=["Ulm", "Bern"][i // 3])
    nx.add_path(theirs, theirs.nodes)
    nx.write_graphml(theirs, tmp_path / "theirs.graphml")
    found = read_graphml(tmp_path / "theirs.graphml")
    assert found.graph.labels.tolist() == [0, 1, 0, 1, -1, -1]
    assert found.encoder.describe() == [("age", "number", 1), ("town", "category", 2)]
    again = read_graph(tmp_path / "theirs.graphml", encoder=found.encoder, classes=["a", "b"], name="mine")
    np.testing.assert_array_equal(again.graph.features, found.graph.features)
    assert again.graph.name == "mine"
    assert read_graph(tmp_path / "theirs.graphml", label="town", features=["age"]).graph.num_features == 1
    with pytest.raises(InputError, match=r"theirs.graphml has no column 'twon' .*did you mean 'town'"):
        read_graph(tmp_path / "theirs.graphml", label="twon")
    with pytest.raises(InputError, match=r"theirs.graphml holds nodes and edges; give no second file"):
        read_graph(tmp_path / "theirs.graphml", tmp_path / "theirs.graphml")


def test_labels_are_needed_to_train_only(tmp_path):
    write_graphml(Graph.from_edges([[0, 1]], np.eye(2)), tmp_path / "g.graphml", features=False)
    assert "num_features" not in (tmp_path / "g.graphml").read_text()
    with pytest.raises(InputError, match=r"g.graphml has no column of labels"):
        read_graph(tmp_path / "g.graphml")
    assert read_graphml(tmp_path / "g.graphml", strict=False).graph.labels.tolist() == [-1, -1]


@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE, LAUGHS.replace('<?xml version="1.0"?>', "").strip()])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_declarations_are_refused(save, text, encoding):
    with pytest.raises(InputError, match=r"g.graphml declares a document type, which may hold unsafe entities"):
        read_graphml(save("g.graphml", text.encode(encoding)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"g.graphml row 1: this is not XML \(no element found\)"),
        ("<graphml>\n<graph>\n</graphml>", r"g.graphml row 3: this is not XML \(mismatched tag\)"),
        ("id,label\n", r"g.graphml row 1: this is not XML"),
        ("<svg/>", r"g.graphml is XML but not a graph that can be read"),
        ('<?xml version="1.0" encoding="no-such"?><graphml/>', r"g.graphml"),
        ("<graphml xmlns='http://graphml.graphdrawing.org/xmlns'><graph/></graphml>", r"g.graphml has no nodes"),
    ],
)
def test_what_is_no_graph(save, text, message):
    with pytest.raises(InputError, match=message):
        read_graphml(save("g.graphml", text))


def test_vectors_that_were_tampered_with(tmp_path):
    path = tmp_path / "g.graphml"
    for features, old, new in (
        (DENSE, "3.0 4.0", "3.0"),
        (SPARSE, "7:", "99:"),
        (SPARSE, "7:", "x:"),
        (DENSE, "4.0", "zz"),
    ):
        write_graphml(Graph.from_edges([[0, 1]], features, [0, 1, -1]), path)
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        with pytest.raises(InputError, match=r"g.graphml: the vectors under 'x' do not hold together"):
            read_graphml(path, strict=False)


def test_what_xml_cannot_hold(tmp_path):
    graph = Graph.from_edges([[0, 1]], np.eye(2), node_ids=["A", "B\0b"])
    with pytest.raises(OutputError, match=r"'B\\x00b' holds a character that XML cannot"):
        write_graphml(graph, tmp_path / "g.graphml")
    assert not (tmp_path / "g.graphml").exists()
