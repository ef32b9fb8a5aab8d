"""What a run labels: feature columns named in text."""

import pytest

from ncgc.errors import ParameterError
from ncgc.runs.source import TableSource


@pytest.mark.parametrize(
    ("features", "columns"),
    [
        (None, (None, {})),
        ("none", (None, {})),
        ("x.NPZ", (None, {})),
        ("a", (["a"], {})),
        ("a,b:text", (["a", "b"], {"b": "text"})),
        (" a , b:number ", (["a", "b"], {"b": "number"})),
        ("dc:title,dc:title2:text", (["dc:title", "dc:title2"], {"dc:title2": "text"})),
        ("a:category,b:drop", (["a", "b"], {"a": "category", "b": "drop"})),
    ],
)
def test_feature_columns(features, columns):
    assert TableSource("n.csv", features=features).columns == columns


@pytest.mark.parametrize("features", ["", "a,", ",", "a,,b", ":text"])
def test_an_empty_name_among_the_features(features):
    with pytest.raises(ParameterError, match="an empty name among the features"):
        _ = TableSource("n.csv", features=features).columns


def test_the_name_is_that_of_the_file():
    assert TableSource("some/people.v2.csv.gz").name == "people"
