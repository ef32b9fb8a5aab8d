"""The public names of the room, which are imported at first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ncgc import io


@pytest.mark.parametrize("name", io.__all__)
def test_every_public_name_is_there(name):
    assert getattr(io, name).__name__ == name
    assert name in dir(io)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'read_grahp'"):
        _ = io.read_grahp


def test_the_room_imports_no_library_before_it_is_used():
    heavy = ("torch", "sklearn", "pandas", "pyarrow", "networkx")
    script = f"import sys, ncgc.io; sys.exit(any(name in sys.modules for name in {heavy}))"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_tables_are_read_without_torch_and_networkx():
    script = "import sys, ncgc.io; ncgc.io.read_graph, ncgc.io.as_graph; sys.exit(bool({'torch', 'networkx'} & {*sys.modules}))"
    subprocess.run([sys.executable, "-c", script], check=True)
