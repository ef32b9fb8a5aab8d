"""A stored run is found under the key that it had at the recording; lines that were appended since do not matter."""

import json

import pytest
from cases import REFERENCE, Store, digest_of_keys, keys_of_file

RECORDED = json.loads((REFERENCE / "keys.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RECORDED["files"])
def test_keys_of_file(root, name):
    about = RECORDED["files"][name]
    keys = keys_of_file(root / "benchmarks" / "results" / name, about["lines"])
    known = dict(keys)
    for _, number, key in (sample for sample in RECORDED["samples"] if sample[0] == name):
        assert known.get(number) == key, f"line {number}"
    assert len(keys) == about["keys"]
    assert digest_of_keys(keys) == about["sha256"]


def test_all_are_counted(frozen):
    assert sum(about["keys"] for about in RECORDED["files"].values()) == RECORDED["count"]
    assert len(Store(frozen / "benchmarks" / "results")) == RECORDED["distinct"]
