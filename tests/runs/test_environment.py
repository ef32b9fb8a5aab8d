"""What a run was made with."""

from __future__ import annotations

import re
import subprocess

from ncgc.runs.environment import environment, peak_memory, reset_peak_memory, revision


def test_revision_is_that_of_git_or_nothing(monkeypatch):
    found = revision()
    assert found is None or re.fullmatch(r"[0-9a-f]{10}\+?", found)

    def no_git(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", no_git)
    assert revision() is None


def test_peak_memory_is_at_least_what_an_array_takes():
    reset_peak_memory()
    before = peak_memory()
    array = bytearray(b"x") * (64 << 20)
    after = peak_memory()
    assert before is None or after >= before + 48 or after * 2**20 > len(array)


def test_the_record_names_versions():
    assert {"version", "revision", "python", "torch", "numpy", "threads"} == set(environment())
