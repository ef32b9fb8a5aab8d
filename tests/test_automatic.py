"""What "auto" makes of dense and of sparse features, and that a value given by hand is kept."""

import pytest

from ncgc import NCGC

SHORT = {"hidden": 8, "epochs": 2, "warmup": 0, "ramp": 1}


@pytest.mark.parametrize(("form", "normed", "dropped"), [("dense", True, 0.0), ("sparse", False, 0.5)])
def test_norm_and_input_dropout_follow_the_density(make_planted, form, normed, dropped):
    network = NCGC(**SHORT).fit(*make_planted(form)).network_
    assert (network.norms is not None) is normed
    assert network.input_dropout == dropped


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_what_is_given_is_kept(make_planted, form):
    network = NCGC(norm=None, input_dropout=0.25, **SHORT).fit(*make_planted(form)).network_
    assert network.norms is None
    assert network.input_dropout == 0.25
    assert NCGC(norm="layer", **SHORT).fit(*make_planted(form)).network_.norms is not None
