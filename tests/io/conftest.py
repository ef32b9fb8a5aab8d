"""Fixtures that write files and read them as graphs."""

from __future__ import annotations

import pytest

from ncgc.io import read_graph

NODES = "id,label,age,town\nA,spam,20,Ulm\nB,,30,Bern\nC,ham,40,Ulm\nD,,50,Bern\n"
EDGES = "source,target\nA,B\nB,C\nC,D\n"


@pytest.fixture
def read(tmp_path):
    """Write two texts (or bytes) as nodes.csv and edges.csv, or under other endings, and read them as a graph."""

    def run(nodes=NODES, edges=EDGES, endings=(".csv", ".csv"), **options):
        paths = [tmp_path / f"{name}{ending}" for name, ending in zip(("nodes", "edges"), endings, strict=True)]
        for path, content in zip(paths, (nodes, edges), strict=True):
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_graph(*paths, **options)

    return run


@pytest.fixture
def save(tmp_path):
    """Write a text or bytes under a name; the path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
