"""Tables from every kind of file, with rows that can be found again."""

import errno
import gzip
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ncgc.errors import InputError
from ncgc.io.tables.table import as_table, read_table

TEXT = "id,label\n007,a\n1e3,b\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", TEXT.encode()),
        ("t.CSV", b"\xef\xbb\xbf" + TEXT.encode()),
        ("t.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("t.tsv", TEXT.replace(",", "\t").encode()),
        ("my.t.tsv.gz", gzip.compress(TEXT.replace(",", "\t").encode(), mtime=0)),
        ("t.csv", TEXT.replace("\n", "\r\n").encode()),
        ("t.txt", TEXT.replace(",", "\t").encode()),
    ],
)
def test_text_keeps_its_cells(save, name, content):
    table = read_table(save(name, content))
    assert table.data.to_pydict() == {"id": ["007", "1e3"], "label": ["a", "b"]}
    assert table.where(1) == f"{name} row 3"
    assert table.notes == ()


@pytest.mark.parametrize(("name", "delimiter", "message"), [("t.csv", ";", "semicolons, not by commas"), ("t.tsv", ",", "commas, not by tabs")])  # fmt: skip
def test_another_delimiter_is_used_and_noted(save, name, delimiter, message):
    table = read_table(save(name, TEXT.replace(",", delimiter)))
    assert table.columns == ["id", "label"]
    assert message in table.notes[0]


def test_a_given_delimiter_is_obeyed(save):
    path = save("t.csv", "a,b:c\n1,2:3\n")
    assert read_table(path, ":").columns == ["a,b", "c"]
    assert read_table(path).columns == ["a", "b:c"]


def test_parquet_keeps_its_types(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": [3, 1], "x": ["a", None]}), path)
    table = read_table(path)
    assert table.data.to_pydict() == {"id": [3, 1], "x": ["a", None]}
    assert table.where(1) == "t.parquet row 2"


def test_names_of_columns(save):
    assert read_table(save("t.csv", " id ,, x\n1,2,3\n")).columns == ["id", "column 2", "x"]
    with pytest.raises(InputError, match=r"t.csv has more than one column 'id'; give each its own name"):
        read_table(save("t.csv", "id,id\n1,2\n"))


def test_rows_are_found_behind_empty_lines_and_long_cells(save):
    table = read_table(save("t.csv", '\nid,x\n\n1,"a\nb"\n2,c\n'))
    assert [table.where(0), table.where(1)] == ["t.csv row 4", "t.csv row 6"]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_header_alone(tmp_path, name):
    path = tmp_path / name
    if name == "t.csv":
        path.write_text("id,label")
    else:
        pq.write_table(pa.table({"id": pa.array([], pa.int64())}), path)
    with pytest.raises(InputError, match=f"{name} has a header but no rows"):
        read_table(path)


@pytest.mark.parametrize("keep", [0, 3, 12, 40, -5])
def test_damaged_archives(save, tmp_path, keep):
    whole = gzip.compress(TEXT.encode() * 20)
    if keep:
        with pytest.raises(InputError, match=r"t.csv.gz is not a whole gzip file"):
            read_table(save("t.csv.gz", whole[:keep]))
    pq.write_table(pa.table({"id": list(range(50))}), tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()
    with pytest.raises(InputError, match=r"t.parquet is (not a whole Parquet file|empty)"):
        read_table(save("t.parquet", content[:keep]))


def test_parquet_with_text_that_is_none(tmp_path):
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    pq.write_table(pa.table({"id": broken}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t.parquet is not a whole Parquet file .*UTF8"):
        read_table(tmp_path / "t.parquet")


def test_files_that_are_not_there(tmp_path, save):
    save("nodes.csv", TEXT)
    with pytest.raises(InputError, match=r"There is no file .*node\.csv \(there is nodes\.csv\); check its name"):
        read_table(tmp_path / "node.csv")
    with pytest.raises(InputError, match=r"There is no file .*x\.csv; check"):
        read_table(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="has an extension that is not known"):
        read_table(save("t.xlsx", "x"))
    with pytest.raises(InputError, match="has an extension that is not known"):
        read_table(save("t.parquet.gz", "x"))


@pytest.mark.skipif(sys.platform == "win32", reason="rights are others there")
def test_a_file_one_may_not_read(save, monkeypatch):
    path = save("t.csv", TEXT)

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "read_bytes", refuse)
    with pytest.raises(InputError, match=r"t.csv cannot be read \(Permission denied\)"):
        read_table(path)


def test_a_folder_one_may_not_look_into(tmp_path, monkeypatch):
    def closed(self):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_dir", closed)
    with pytest.raises(
        InputError, match=r"nodes\.csv cannot be read \(Permission denied\); check its name and your rights"
    ):
        read_table(tmp_path / "nodes.csv")


def test_frames():
    frame = pd.DataFrame({"id": [1, 2], "x": [0.5, None]})
    assert as_table(frame, "nodes").data.to_pydict() == {"id": [1, 2], "x": [0.5, None]}
    assert as_table(frame, "nodes").where(0) == "nodes row 1"
    with pytest.raises(InputError, match="nodes must be a file's path, a pandas DataFrame or a pyarrow Table"):
        as_table(pd.DataFrame({"id": [1, "b"]}), "nodes")
    with pytest.raises(InputError, match="must be a file's path"):
        as_table(5, "nodes")
