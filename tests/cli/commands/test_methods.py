"""`ncgc methods`: the list, and a page on each, for people and for programs."""

from __future__ import annotations

import pytest

from ncgc.models.registry import CLASSIFIERS
from ncgc.params.presets import method_preset


def test_methods_are_listed(ncgc):
    result = ncgc("methods", "--json")
    assert [row["name"] for row in result.json] == list(CLASSIFIERS)
    assert all(row["paper"] and row["cost"] for row in result.json)
    assert "label_spreading" in ncgc("methods").out


@pytest.mark.parametrize("name", list(CLASSIFIERS))
def test_each_has_a_page_with_every_parameter_that_set_takes(ncgc, name):
    result = ncgc("methods", name)
    assert (result.code, result.err) == (0, "")
    known = CLASSIFIERS[name].PARAMETERS
    words = {line.split()[0] for line in result.out.splitlines() if line}
    assert set(known) - {"random_state"} <= words
    assert ">>>" not in result.out


def test_a_page_shows_the_settings_and_the_command_it_ends_with_works(ncgc):
    page = ncgc("methods", "grand", "--json").json
    assert page["settings"]["citeseer"]["temperature"] == method_preset("grand", "citeseer")["temperature"]
    assert page["about"].startswith("p_s = softmax(")
    out = ncgc("methods", "sgc").out
    command = out.splitlines()[-1].removeprefix("Use it: ncgc ").replace("cora", "digits").split()
    assert ncgc(*command, "--set", "epochs=2").code == 0


def test_an_unknown_one_gets_a_sentence(ncgc):
    for wrong, near in (("grandd", "grand"), ("ncgcc", "ncgc")):
        result = ncgc("methods", wrong)
        assert (result.code, result.out) == (2, "")
        assert result.err == f"Error: Unknown method {wrong!r}; did you mean {near!r}?\n"
