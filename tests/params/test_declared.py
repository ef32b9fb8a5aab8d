"""Parameters declared in the body of a class make a constructor that scikit-learn understands."""

import inspect

import pytest
from sklearn.base import clone

from ncgc.errors import ParameterError
from ncgc.params.parameter import Declared, declared


class Narrow(Declared):
    hidden: int = declared(16, "width", low=1)
    random_state: int | None = declared(0, "seed", low=0, optional=True)


class Wide(Narrow, hidden=64):
    rate: float = declared(0.5, "rate", low=0, high=1)


def test_defaults_are_inherited_and_replaced():
    assert Narrow().get_params() == {"hidden": 16, "random_state": 0}
    assert Wide().get_params() == {"hidden": 64, "rate": 0.5, "random_state": 0}
    assert Narrow.PARAMETERS["hidden"].default == 16
    assert list(inspect.signature(Wide).parameters) == ["hidden", "rate", "random_state"]


def test_clone_keeps_what_was_given():
    assert clone(Wide(hidden=3, random_state=None)).get_params() == {"hidden": 3, "rate": 0.5, "random_state": None}


def test_wrong_names_and_values_are_sentences():
    with pytest.raises(ParameterError, match="Unknown parameter of Wide 'hiden'; did you mean 'hidden'"):
        Wide(hiden=3)
    with pytest.raises(ParameterError, match="The 'rate' parameter of Wide must be a float in the range"):
        Wide(rate=2.0).check()
    with pytest.raises(TypeError, match="no parameter 'depth'"):

        class Deep(Narrow, depth=3): ...
