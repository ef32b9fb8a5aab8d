"""The method that docs/adding-a-method.md writes works as the page says."""

import re
import sys
import types
from pathlib import Path

import pytest

from ncgc import load_dataset
from ncgc.datasets import few_split

PAGE = Path(__file__).resolve().parent.parent / "docs" / "adding-a-method.md"


@pytest.fixture
def method():
    if not PAGE.exists():
        pytest.skip("the documents are not here")
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    module = types.ModuleType("one_layer")
    sys.modules["one_layer"] = module
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    yield module.OneLayer
    del sys.modules["one_layer"]


def test_the_example_trains(method):
    graph = load_dataset("digits")
    split = few_split(graph, 5, seed=0)
    model = method(epochs=30).fit(graph, split)
    assert method().get_params()["epochs"] == 100
    assert method().get_params()["scale"] == 1.0
    assert model.predict_proba().shape == (1797, 10)
    assert model.score() > 0.5
    assert (method(epochs=30).fit(graph, split).predict_proba() == model.predict_proba()).all()
