"""`ncgc datasets`: the list for people and for programs."""

from __future__ import annotations

import json

from ncgc.datasets.catalogue import CATALOGUE


def test_table_has_every_data_set(ncgc):
    result = ncgc("datasets")
    assert result.code == 0
    for info in CATALOGUE.values():
        assert f"{info.nodes:,}" in result.out
        assert info.source in result.out
    rows = {line.split()[0]: line.split()[-1] for line in result.out.splitlines() if line}
    assert (rows["digits"], rows["cora"]) == ("yes", "no")


def test_what_lies_in_data_is_here(ncgc, tmp_path):
    raw = tmp_path / "data" / "Photo" / "raw"
    raw.mkdir(parents=True)
    (raw / CATALOGUE["photo"].files[0]).write_bytes(b"")
    result = ncgc("datasets", "--data", tmp_path / "data")
    assert f"photo: In {tmp_path / 'data'}\n" in result.out
    found = {entry["name"]: entry for entry in json.loads(ncgc("datasets", "--data", tmp_path / "data", "--json").out)}
    assert found["photo"]["here"]
    assert found["photo"]["path"] == str(raw)
    assert not found["cora"]["here"]
    assert list(found) == list(CATALOGUE)
