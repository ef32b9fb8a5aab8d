"""Any content of the files gives a valid Graph or one of our errors, never a traceback."""

import csv
import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ncgc import Graph
from ncgc.errors import NCGCError
from ncgc.io import read_graph

FUZZ = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SMALL = settings(FUZZ, max_examples=100)
STRANGE = ["", " ", "nan", "inf", "-1", "1e400", "1,5", "007", '"', "\n", "\r", "\0", "\ufeff", "=1+1", "ß", "\U0001f600", "NA", "true", "a b c d", "é" * 50]  # fmt: skip
cells = (
    st.sampled_from(["a", "b", "c", "1", "2", "3", "0.5", "x", "y"]) | st.sampled_from(STRANGE) | st.text(max_size=6)
)
names = st.sampled_from(["id", "label", "source", "target", "weight", "age", "Node ID", "class", "u", "v", ""]) | cells


@st.composite
def tables(draw, header):
    """Rows of a table, mostly as wide as the header."""
    header = draw(st.sampled_from(header) | st.lists(names, min_size=1, max_size=5))
    whole = st.lists(cells, min_size=len(header), max_size=len(header))
    return [header, *draw(st.lists(whole, max_size=8))]


@st.composite
def files(draw, header):
    """The bytes of a file: a table in any delimiter, quoted or not, perhaps ragged, cut, stained or zipped; or nothing of it."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=60))
    rows = draw(tables(header))
    if draw(st.integers(0, 4)) == 0:
        rows.insert(draw(st.integers(0, len(rows))), draw(st.lists(cells, max_size=4)))
    delimiter = draw(st.sampled_from(",,,,;\t| "))
    text = io.StringIO(newline="")
    if draw(st.booleans()):
        csv.writer(text, delimiter=delimiter, lineterminator=draw(st.sampled_from(["\n", "\r\n", "\r"]))).writerows(
            rows
        )
    else:
        text.write("\n".join(delimiter.join(row) for row in rows))
    content = text.getvalue().encode(
        draw(st.sampled_from(["utf-8"] * 4 + ["utf-8-sig", "utf-16", "latin-1"])), "replace"
    )
    if draw(st.integers(0, 9)) == 0:
        content = content[: draw(st.integers(0, len(content)))] + draw(st.binary(max_size=3))
    return content


nodes = files([["id", "label"], ["id", "label", "age"], ["node", "class", "town", "age"]])
edges = files([["source", "target"], ["source", "target", "weight"], ["u", "v"]])


def check(*arguments, **options):
    try:
        found = read_graph(*arguments, **options)
    except NCGCError as error:
        found, message = None, str(error)
    if found is None:
        assert message.endswith(".")
        assert "\n" not in message
        return None
    assert isinstance(found.graph, Graph)
    found.graph.validate()
    assert all(note.endswith(".") for note in found.notes)
    if found.encoder is not None:
        assert found.encoder.num_features == found.graph.num_features
    return found


@FUZZ
@given(nodes, edges)
def test_any_bytes(tmp_path, nodes, edges):
    (tmp_path / "nodes.csv").write_bytes(nodes)
    (tmp_path / "edges.csv").write_bytes(edges)
    check(tmp_path / "nodes.csv", tmp_path / "edges.csv")


@FUZZ
@given(st.data())
def test_any_cells_in_tables_that_fit(tmp_path, data):
    """Tables whose ids and edges are sound, so that labels, weights and features are reached."""
    ids = data.draw(st.lists(cells.filter(bool), min_size=2, max_size=8, unique=True))
    width = data.draw(st.integers(0, 3))
    label = st.sampled_from(["spam", "ham", "ham", "spam", "", "", " "]) | (
        cells if data.draw(st.booleans()) else st.just("")
    )
    features = [data.draw(st.sampled_from([cells, st.floats().map(str), st.integers().map(str)])) for _ in range(width)]
    rows = [[node, data.draw(label), *[data.draw(cell) for cell in features]] for node in ids]
    end = st.sampled_from(ids)
    weight = st.sampled_from(["1", "0.5", "3"]) | cells | st.floats().map(str)
    links = [[data.draw(end), data.draw(end), data.draw(weight)] for _ in range(data.draw(st.integers(1, 6)))]
    if data.draw(st.booleans()):
        links = [row[:2] for row in links]
    write(tmp_path / "nodes.csv", [["id", "label", *[f"f{i}" for i in range(width)]], *rows])
    write(tmp_path / "edges.csv", [["source", "target", "weight"][: len(links[0])], *links])
    found = check(tmp_path / "nodes.csv", tmp_path / "edges.csv")
    if found is not None:
        assert found.graph.node_ids.tolist() == ids


TYPES = [
    (pa.int8(), st.integers(-128, 127)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float16(), st.floats(width=16)),
    (pa.float64(), st.floats()),
    (pa.bool_(), st.booleans()),
    (pa.large_string(), st.text(max_size=3)),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["a", "b"])),
    (pa.binary(), st.binary(max_size=2)),
    (pa.date32(), st.dates()),
    (pa.time32("s"), st.times().map(lambda time: time.replace(microsecond=0))),
    (pa.timestamp("us", "UTC"), st.datetimes()),
    (pa.duration("s"), st.integers(-9, 9)),
    (pa.decimal128(6, 2), st.decimals(-99, 99, places=2)),
    (pa.list_(pa.float32()), st.lists(st.floats(width=32), max_size=2)),
    (pa.struct([("a", pa.int8())]), st.just({"a": 1})),
    (pa.null(), st.none()),
]


@SMALL
@given(st.data())
def test_any_types_in_parquet(tmp_path, data):
    n = data.draw(st.integers(2, 6))

    def column(name, gaps=True):
        kind, cell = data.draw(st.sampled_from(TYPES), label=name)
        return pa.array(data.draw(st.lists(st.none() | cell if gaps else cell, min_size=n, max_size=n)), kind)

    kinds = (
        {"f": data.draw(st.sampled_from(["number", "category", "text", "drop"]))} if data.draw(st.booleans()) else None
    )
    sound = data.draw(st.booleans())
    ids = pa.array(range(n)) if sound else column("id", gaps=False)
    label = pa.array(["a", "b"] + [None] * (n - 2)) if sound else column("label")
    pq.write_table(
        pa.table({"id": ids, "label": label, "f": column("f"), "g": column("g")}), tmp_path / "nodes.parquet"
    )
    edges = {"source": ids[:1], "target": ids[1:2]}
    if not sound or data.draw(st.booleans()):
        edges["weight"] = column("weight")[:1]
    pq.write_table(pa.table(edges), tmp_path / "edges.parquet")
    check(tmp_path / "nodes.parquet", tmp_path / "edges.parquet", kinds=kinds)


@SMALL
@given(st.binary(max_size=200), st.sampled_from([".parquet", ".csv.gz", ".graphml", ".npz", ".npy"]), st.booleans())
def test_any_bytes_under_other_names(tmp_path, content, ending, begun):
    starts = {".parquet": b"PAR1", ".csv.gz": gzip.compress(b"id,label\na,b\n")[:-9], ".graphml": b"<graphml>"}
    path = tmp_path / f"nodes{ending}"
    path.write_bytes(starts.get(ending, b"\x93NUMPY\x01\x00") * begun + content)
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    if ending in (".npz", ".npy"):
        (tmp_path / "good.csv").write_text("id,label\na,x\nb,y\n")
        with pytest.raises(NCGCError, match=r"nodes.np"):
            read_graph(tmp_path / "good.csv", tmp_path / "edges.csv", features=path)
    else:
        check(path, None if ending == ".graphml" else tmp_path / "edges.csv")


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        csv.writer(file).writerows(rows)
