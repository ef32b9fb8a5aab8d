"""Tables to Graph, whole."""

import gzip

import numpy as np
import pandas as pd
import pytest

from ncgc import NCGC
from ncgc.errors import InputError
from ncgc.io import FeatureEncoder, GraphTables, read_graph

from ..conftest import EDGES, NODES


def test_a_graph(read):
    found = read()
    graph = found.graph
    assert isinstance(found, GraphTables)
    assert graph.node_ids.tolist() == ["A", "B", "C", "D"]
    assert graph.classes.tolist() == ["ham", "spam"]
    assert graph.labels.tolist() == [1, -1, 0, -1]
    assert graph.name == "nodes"
    np.testing.assert_array_equal(graph.adjacency.toarray(), np.eye(4, k=1) + np.eye(4, k=-1))
    assert graph.features.shape == (4, 3)
    assert found.tables == ("nodes.csv", "edges.csv")
    assert found.columns == {"id": "id", "label": "label", "source": "source", "target": "target", "weight": None}
    assert found.notes == [
        "Columns of nodes.csv: 'id' as id, 'label' as label.",
        "Columns of edges.csv: 'source' and 'target' as the ends of edges.",
        "2 of 4 nodes have a label in the column 'label', of 2 classes.",
        "A single node is labelled as 'ham', 'spam'; a few more would help.",
        "Edges are taken as undirected; each was given in one direction only in edges.csv.",
        "Features: 3, from the columns 'age' (number, 1), 'town' (category, 2).",
    ]


def test_the_same_graph_from_every_kind_of_file(read, tmp_path):
    expected = read().graph
    nodes, edges = pd.read_csv(tmp_path / "nodes.csv", keep_default_na=False), pd.read_csv(tmp_path / "edges.csv")
    nodes.to_parquet(tmp_path / "n.parquet")
    edges.to_parquet(tmp_path / "e.parquet")
    others = [
        read(gzip.compress(NODES.encode()), EDGES.replace(",", "\t"), (".csv.gz", ".tsv")).graph,
        read(NODES.replace(",", ";"), b"\xef\xbb\xbf" + EDGES.replace("\n", "\r\n").encode()).graph,
        read(NODES.replace(",", "%"), EDGES.replace(",", "%"), delimiter="%").graph,
        read_graph(tmp_path / "n.parquet", tmp_path / "e.parquet").graph,
        read_graph(nodes, edges).graph,
    ]
    for graph in others:
        assert graph.node_ids.tolist() == expected.node_ids.tolist()
        np.testing.assert_array_equal(graph.labels, expected.labels)
        np.testing.assert_array_equal(graph.features, expected.features)
        assert abs(graph.adjacency - expected.adjacency).max() == 0


def test_numbers_as_ids(tmp_path):
    nodes = pd.DataFrame({"id": [70, 5, 900], "y": ["a", "b", None], "f": [0.5, 1.5, 0.2]})
    edges = pd.DataFrame({"u": [900, 5], "v": [70, 900], "w": [2.0, 3.0]})
    graph = read_graph(nodes, edges, name="mine").graph
    assert graph.node_ids.tolist() == [70, 5, 900]
    assert graph.node_ids.dtype == np.int64
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 0, 2], [0, 0, 3], [2, 3, 0]])
    assert graph.name == "mine"


def test_every_column_can_be_named(read):
    nodes = "label,id,x,kind\nA,1,5,p\nB,2,6,q\nC,3,7,\n"
    found = read(
        nodes, "source,t,f,m\nz,A,B,2\nz,B,C,3\n", id="label", label="kind", source="f", target="T", weight="m"
    )
    assert found.graph.node_ids.tolist() == ["A", "B", "C"]
    assert found.graph.labels.tolist() == [0, 1, -1]
    assert found.graph.adjacency[1, 2] == 3
    assert found.columns["weight"] == "m"


def test_reading_for_a_fitted_model(read):
    first = read()
    kept = FeatureEncoder.from_json(first.encoder.to_json())
    classes = first.graph.classes.tolist()
    new = read("id,town,age\n1,Graz,20\n2,Ulm,\n", "source,target\n1,2\n", encoder=kept, classes=classes)
    assert new.graph.num_features == first.graph.num_features
    assert new.graph.labels.tolist() == [-1, -1]
    assert new.graph.classes.tolist() == classes
    model = NCGC(epochs=2, warmup=1, ramp=1, random_state=0).fit(first.graph)
    assert model.predict(new.graph).shape == (2,)
    with pytest.raises(InputError, match=r"nodes.csv lacks the column 'age' that the features were made of"):
        read("id,town\n1,Graz\n", "source,target\n1,1\n", encoder=kept, classes=classes)


def test_features_from_a_file_and_from_the_structure(read, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(8).reshape(4, 2))
    found = read(features=tmp_path / "x.npy")
    assert (found.features, found.encoder, found.graph.num_features) == ("file", None, 2)
    np.save(tmp_path / "x.npy", np.arange(6).reshape(3, 2))
    with pytest.raises(InputError, match=r"x.npy has 3 rows but nodes.csv has 4 nodes"):
        read(features=tmp_path / "x.npy")
    assert read(features="none").features == "structure"
    assert read("id,label\nA,a\nB,b\nC,\nD,\n").features == "structure"


def test_notes_can_be_shorter(read):
    assert not any("undirected" in note for note in read(directed_note=False).notes)


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ("id,label\nA,a\nB,b\nA,a\nC,\n", EDGES, "nodes.csv row 2 and row 4 have the same id 'A'"),
        (NODES, EDGES + "D,A77\n", r"edges.csv row 5: unknown node id 'A77' \(not in nodes.csv\); add it to nodes.csv or remove the edge\."),
        ("", EDGES, "nodes.csv is empty"),
        (NODES, "", "edges.csv is empty"),
        ("id,label\n", EDGES, "nodes.csv has a header but no rows"),
        (NODES, "source,target\n", "edges.csv has a header but no rows"),
        (NODES, "source target\nA B\n", "edges.csv has only one column, 'source target', and needs two.*delimiter"),
        (NODES + "E,a\n", EDGES, "nodes.csv row 6 has 2 cells but the header has 4"),
        (NODES.encode("utf-16"), EDGES, "nodes.csv is UTF-16"),
        (NODES.encode() + "E,a,1,Köln\n".encode("latin-1"), EDGES, r"nodes.csv row 6: byte \d+ of the file \(0xF6\) is not UTF-8"),
        ("id,label,x\nA,a,1\n,b,2\n", EDGES, r"nodes.csv row 3: the id \(column 'id'\) is missing"),
        (NODES.replace("30", "nan"), EDGES, "nodes.csv row 3, column 'age': 'nan' is not a finite number; leave the cell empty"),
        (NODES.replace("30", "-inf"), EDGES, "nodes.csv row 3, column 'age': '-inf'"),
        (NODES, "source,target,weight\nA,B,-1\n", "edges.csv row 2: the edge has the weight -1"),
        (NODES, "source,target,weight\nA,B,x\n", "edges.csv row 2, column 'weight': 'x' is not"),
        (NODES.replace("label", "lbl"), EDGES, "nodes.csv has no column of labels"),
        ("id,label\nA,\nB,\n", EDGES, "no node has a label"),
        ("id,label\nA,a\nB,a\n", EDGES, "every labelled node is of the class 'a'"),
        (NODES, "A,B\nB,C\n", "edges.csv has no header: its first row holds node ids; add the header source,target"),
        (NODES, "source,target\nA,1\nB,2\n", "no edge joins two of its nodes"),
    ],
)  # fmt: skip
def test_bad_input_is_an_error_with_the_remedy(read, nodes, edges, message):
    with pytest.raises(InputError, match=message) as raised:
        read(nodes, edges)
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)


def test_wrong_options(read, tmp_path):
    with pytest.raises(InputError, match=r"nodes.csv has no column 'lable' .* did you mean 'label'\?"):
        read(label="lable")
    with pytest.raises(InputError, match="one ASCII character"):
        read(delimiter="||")
    with pytest.raises(InputError, match=r"edges.csv has only one column"):
        read(NODES.replace(",", ";"), delimiter=";")
    with pytest.raises(InputError, match="The edges are missing"):
        read_graph(tmp_path / "nodes.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_graph(tmp_path, tmp_path / "edges.csv")
