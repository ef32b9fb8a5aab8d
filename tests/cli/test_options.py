"""From a parameter to an option and back."""

from __future__ import annotations

import pytest
from ncgc.runs.config import HYPER, RUN

from ncgc.cli.options import option, value_of


@pytest.mark.parametrize("parameter", (RUN | HYPER).values(), ids=lambda parameter: parameter.name)
def test_default_as_text_is_the_default(parameter):
    if parameter.kind is bool:
        assert value_of(parameter, parameter.default) is parameter.default
    else:
        text = "none" if parameter.default is None else str(parameter.default)
        assert value_of(parameter, text) == parameter.default
    assert parameter.allows(parameter.default)


@pytest.mark.parametrize("parameter", (RUN | HYPER).values(), ids=lambda parameter: parameter.name)
def test_not_given_is_none(parameter):
    assert option(parameter).default is None


def test_numbers_with_commas_only_where_an_array_is_allowed():
    assert value_of(HYPER["prior"], "0.2,0.8") == (0.2, 0.8)
    assert value_of(HYPER["prior"], "0.2,x") == "0.2,x"
    assert value_of(HYPER["backbone"], "gcn,gat") == "gcn,gat"
    assert not HYPER["backbone"].allows(("gcn", "gat"))
