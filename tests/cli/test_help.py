"""Help in a narrow terminal."""

from __future__ import annotations

import pytest

from ncgc.cli.commands.train import RUN
from ncgc.cli.options import HYPER_PARAMETERS as HYPER


@pytest.mark.parametrize("columns", ["60", "120"])
def test_every_option_is_named_whole_and_fits(ncgc, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    out = ncgc("train", "--help").out
    assert max(len(line) for line in out.splitlines()) <= int(columns)
    words = out.replace(",", " ").split()
    for name, parameter in (RUN | HYPER).items():
        flag = "--" + name.replace("_", "-")
        assert flag in words
        if parameter.kind is bool:
            assert flag.replace("--", "--no-", 1) in words
    assert "--random-state" not in words


def test_groups_are_headings(ncgc):
    lines = ncgc("train", "--help").out.splitlines()
    headings = [line for line in lines if line and not line.startswith(" ")]
    assert headings[2:] == [
        "Arguments",
        "Run",
        "Method",
        "Files and output",
        "Several processes and checkpoints",
        "Network",
        "Objective",
        "Training",
        "Options",
    ]


def test_help_says_range_and_default(ncgc, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = " ".join(ncgc("train", "--help").out.split())
    parameter = HYPER["node_dropout"]
    assert f"Dropout of all features of a node at once: from 0 to below 1. Default {parameter.default:g}." in out
