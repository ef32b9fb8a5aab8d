"""The public names, which are imported at first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ncgc


@pytest.mark.parametrize("name", ncgc.__all__)
def test_every_public_name_is_there(name):
    assert getattr(ncgc, name).__name__ == name
    assert name in dir(ncgc)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'NCGCC'"):
        _ = ncgc.NCGCC


def test_importing_the_package_is_quick():
    script = "import sys, ncgc; sys.exit(any(name in sys.modules for name in ('torch', 'sklearn', 'scipy')))"
    subprocess.run([sys.executable, "-c", script], check=True)
