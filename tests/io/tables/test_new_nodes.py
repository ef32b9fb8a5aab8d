"""New nodes for an old model: where they are joined on, what they are made of, and every way it can go wrong."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ncgc import Graph
from ncgc.errors import GraphError, InputError, ModelFileError
from ncgc.io import read_graph
from ncgc.io.tables.new_nodes import attach_nodes
from ncgc.io.tables.read_graph import TableSchema

NODES = "id,label,age,town\nA,spam,20,Ulm\nB,,30,Bern\nC,ham,40,Ulm\nD,,50,Bern\n"
EDGES = "source,target\nA,B\nB,C\nC,D\n"
NEW = "id,age,town\nX,25,Bern\nY,45,Ulm\n"
LINKS = "source,target\nX,A\nY,X\n"


@pytest.fixture
def tables(read):
    return read(NODES, EDGES)


@pytest.fixture
def attach(tables, save):
    """New tables as text, attached to the graph of NODES and EDGES."""

    def run(nodes=NEW, edges=LINKS, schema=None, old=None, **options):
        paths = save("new.csv", nodes), save("links.csv", edges)
        return attach_nodes(old or tables.graph, *paths, schema or TableSchema.of(tables), **options)

    return run


def edges_of(graph):
    ids = graph.node_ids.tolist()
    upper = sparse.triu(graph.adjacency, format="coo")
    return sorted((ids[i], ids[j]) for i, j in zip(upper.row, upper.col, strict=True))


# ---------------------------------------------------------------- joined or alone


def test_new_nodes_join_the_old_graph(tables, attach):
    found = attach()
    assert found.joined
    assert found.bridges == 1
    assert found.graph.node_ids.tolist() == ["A", "B", "C", "D", "X", "Y"]
    assert edges_of(found.graph) == [("A", "B"), ("A", "X"), ("B", "C"), ("C", "D"), ("X", "Y")]
    assert found.new.tolist() == [4, 5]
    assert found.ids.tolist() == ["X", "Y"]
    assert found.graph.labels.tolist() == [1, -1, 0, -1, -1, -1]
    np.testing.assert_array_equal(found.graph.features[:4], tables.graph.features)


def test_the_union_is_what_reading_all_at_once_gives(tables, attach, save):
    """But for the features, whose encoder has seen the old nodes only."""
    found = attach()
    rows = "X,,25,Bern\nY,,45,Ulm\n"
    whole = read_graph(save("all.csv", NODES + rows), save("both.csv", EDGES + "X,A\nY,X\n"), encoder=tables.encoder)
    assert (whole.graph.adjacency != found.graph.adjacency).nnz == 0
    np.testing.assert_array_equal(whole.graph.features, found.graph.features)


def test_without_an_edge_to_the_old_graph_they_are_alone(attach):
    found = attach(edges="source,target\nX,Y\n")
    assert not found.joined
    assert found.bridges == 0
    assert found.graph.node_ids.tolist() == ["X", "Y"]
    assert edges_of(found.graph) == [("X", "Y")]
    assert found.new.tolist() == [0, 1]
    assert found.graph.classes.tolist() == ["ham", "spam"]


def test_alone_has_ids_of_its_own(attach):
    same_ids = "id,age,town\nA,25,Bern\nB,45,Ulm\n"
    found = attach(same_ids, "source,target\nA,B\n", alone=True)
    assert not found.joined
    assert found.graph.num_nodes == 2
    with pytest.raises(InputError, match=r"unknown node id 'Q' \(not in new.csv\)"):
        attach(same_ids, "source,target\nA,B\nA,Q\n", alone=True)


def test_alone_refuses_an_edge_to_an_old_node(attach):
    with pytest.raises(InputError) as caught:
        attach(edges="source,target\nX,Y\nC,Y\nX,A\n", alone=True)
    assert str(caught.value) == (
        "links.csv row 3: 'C' is a node of the model's graph, which --alone leaves out (1 other likewise); leave --alone out "
        "to join the new nodes to it, or remove the edge."
    )


def test_edges_between_old_nodes_are_added(attach):
    found = attach(edges="source,target\nX,Y\nA,D\n")
    assert found.joined
    assert ("A", "D") in edges_of(found.graph)


def test_an_edge_given_again_keeps_the_larger_weight(read, save):
    old = read(NODES, "source,target,weight\nA,B,2\nB,C,5\n")
    links = save("l.csv", "source,target,weight\nA,B,3\nC,B,4\nX,A,7\n")
    found = attach_nodes(old.graph, save("n.csv", "id,age,town\nX,1,Ulm\n"), links, TableSchema.of(old))
    assert found.graph.adjacency[[0], [1]].item() == 3
    assert found.graph.adjacency[[1], [2]].item() == 5
    assert found.graph.adjacency[[4], [0]].item() == 7


def test_missing_weights_beside_a_weighted_graph_are_said(read, save):
    old = read(NODES, "source,target,weight\nA,B,2\nB,C,5\n")
    found = attach_nodes(old.graph, save("n.csv", NEW), save("l.csv", LINKS), TableSchema.of(old))
    assert any("have weights and those of l.csv have none: each counts 1" in note for note in found.notes)
    assert found.graph.adjacency[[4], [0]].item() == 1


def test_numbers_and_text_name_the_same_node(save):
    old = Graph.from_edges([[0, 1]], np.eye(2), [0, 1], node_ids=[7, 8])
    new = pd.DataFrame({"id": ["9", "x"]})
    links = pd.DataFrame({"source": ["9", "x"], "target": ["7", "9"]})
    found = attach_nodes(old, new, links, TableSchema(), features=np.eye(2))
    assert found.graph.node_ids.tolist() == ["7", "8", "9", "x"]
    numbers = attach_nodes(
        old,
        pd.DataFrame({"id": [9]}),
        pd.DataFrame({"source": [9], "target": [8]}),
        TableSchema(),
        features=np.eye(2)[:1],
    )
    assert numbers.graph.node_ids.tolist() == [7, 8, 9]
    assert numbers.ids.dtype == np.int64


def test_an_old_graph_without_ids_is_numbered():
    old = Graph.from_edges([[0, 1]], np.eye(2), [0, 1])
    found = attach_nodes(
        old,
        pd.DataFrame({"id": [2]}),
        pd.DataFrame({"source": [2], "target": [1]}),
        TableSchema(),
        features=np.eye(2)[:1],
    )
    assert edges_of(found.graph) == [(0, 1), (1, 2)]


# ---------------------------------------------------------------- ids that cannot be


def test_an_unknown_end_says_where_and_what_to_do(attach):
    with pytest.raises(InputError) as caught:
        attach(edges="source,target\nX,A\nX,Q\nR,Y\n")
    assert str(caught.value) == (
        "links.csv row 3: unknown node id 'Q' (not in new.csv nor in the model's graph); add it to new.csv or remove the "
        "edge (1 other edge likewise)."
    )


def test_a_new_id_that_is_old_says_how_to(attach):
    with pytest.raises(InputError) as caught:
        attach(NEW + "B,1,Ulm\nC,1,Ulm\n")
    assert str(caught.value) == (
        "new.csv row 4: the id 'B' (column 'id') is a node of the model's graph already (1 other likewise); leave its row "
        "out (edges may name it all the same), or give --alone if the table is of another graph that happens to use the "
        "same ids."
    )


def test_a_new_id_twice_is_refused(attach):
    with pytest.raises(InputError, match=r"row 2 and row 4 have the same id 'X'"):
        attach(NEW + "X,1,Ulm\n")


def test_edges_without_a_header_are_refused(attach):
    with pytest.raises(InputError, match="has no header"):
        attach(edges="X,A\nY,X\n", schema=TableSchema({}, "columns", None), features=None)


# ---------------------------------------------------------------- columns


def test_columns_are_those_of_the_model(read, save):
    old = read(NODES.replace("id,", "doc,", 1), "p,q\nA,B\nB,C\n", id="doc", source="p", target="q")
    schema = TableSchema.from_dict(json.loads(json.dumps(TableSchema.of(old).to_dict())))
    new, links = "key,doc,age,town\n1,X,25,Bern\n2,Y,45,Ulm\n", "a,p,q\n1,X,A\n"
    found = attach_nodes(old.graph, save("n.csv", new), save("l.csv", links), schema)
    assert found.ids.tolist() == ["X", "Y"]
    named = attach_nodes(
        old.graph, save("n.csv", new), save("l.csv", "q,p,to\nX,Z,A\n"), schema, source="q", target="to"
    )
    assert named.bridges == 1
    with pytest.raises(InputError, match="has no column 'doc' to take the ids from"):
        attach_nodes(old.graph, save("n.csv", NEW), save("l.csv", links), schema)


def test_missing_feature_columns_are_named(attach):
    with pytest.raises(InputError, match=r"new.csv lacks the columns 'age', 'town' that the features were made of"):
        attach("id,colour\nX,red\nY,blue\n")


def test_labels_are_kept_apart(attach):
    found = attach("id,label,age,town\nX,spam,25,Bern\nY,eggs,45,Ulm\n")
    assert found.truth.tolist() == [1, -1]
    assert found.graph.labels[found.new].tolist() == [-1, -1]
    assert "new.csv, column 'label': 1 label is none of the model's classes and not compared with." in found.notes
    assert attach().truth.tolist() == [-1, -1]


# ---------------------------------------------------------------- features


def test_features_of_a_file_need_a_file(tables, attach, tmp_path):
    schema = TableSchema(tables.columns, "file")
    with pytest.raises(
        InputError, match=r"give those of the 2 nodes in new.csv as a .npz or .npy file with --features"
    ):
        attach(schema=schema)
    width = tables.graph.num_features
    np.save(tmp_path / "x.npy", np.full((2, width), 3.0))
    found = attach(schema=schema, features=tmp_path / "x.npy")
    assert (found.graph.features[4:] == 3).all()
    np.save(tmp_path / "narrow.npy", np.ones((2, width - 1)))
    with pytest.raises(InputError, match=rf"narrow.npy has 2 rows and {width - 1} columns.* 2 and {width} are needed"):
        attach(schema=schema, features=tmp_path / "narrow.npy")
    np.save(tmp_path / "short.npy", np.ones((1, width)))
    with pytest.raises(InputError, match=r"has 1 rows but new.csv has 2 nodes"):
        attach(schema=schema, features=tmp_path / "short.npy")
    with pytest.raises(InputError, match="The array of features has 1 rows"):
        attach(schema=schema, features=np.ones((1, width)))
    with pytest.raises(GraphError, match="not a finite number"):
        attach(schema=schema, features=np.full((2, width), np.nan))


def test_features_of_columns_need_no_file(attach, tmp_path):
    with pytest.raises(InputError, match=r"made from the columns of new.csv; give no --features"):
        attach(features=tmp_path / "x.npy")


def test_features_of_the_structure_cannot_be_had(attach):
    with pytest.raises(InputError, match="fitted on features of its graph's structure, which new nodes do not have"):
        attach(schema=TableSchema({}, "structure"))


def test_an_encoder_of_another_width_is_the_models_fault(tables, attach):
    with pytest.raises(ModelFileError, match="its columns make"):
        attach(old=tables.graph.with_features(np.ones((4, 2))))


@pytest.mark.parametrize("old_form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("new_form", [np.asarray, sparse.csr_array])
def test_sparse_and_dense_features_go_together(tables, attach, old_form, new_form):
    old = tables.graph.with_features(old_form(np.eye(4)))
    found = attach(schema=TableSchema(tables.columns, "array"), old=old, features=new_form(2 * np.eye(4)[:2]))
    both = found.graph.features
    assert sparse.issparse(both) == sparse.issparse(old.features)
    dense = both.toarray() if sparse.issparse(both) else both
    np.testing.assert_array_equal(dense, np.vstack([np.eye(4), 2 * np.eye(4)[:2]]))
    assert dense.dtype == np.float32


@pytest.mark.parametrize(
    "values",
    [
        {"columns": []},
        {"columns": {"id": 3}},
        {"features": "tea leaves"},
        {"features": []},
        {"features": "columns"},
        {"features": "columns", "encoder": 3},
        {"features": "file", "encoder": "{}"},
    ],
)
def test_an_inconsistent_schema_is_refused(values):
    with pytest.raises(ModelFileError, match="fit and save it anew"):
        TableSchema.from_dict(values)


def test_a_damaged_encoder_is_a_sentence():
    with pytest.raises(InputError, match="feature encoder cannot be read"):
        TableSchema.from_dict({"features": "columns", "encoder": "{"})
