"""What `ncgc fit` is told, from TOML and back."""

from pathlib import Path

import pytest

from ncgc.errors import ParameterError
from ncgc.runs.fit_config import FitConfig, read_fit_config


@pytest.fixture
def save(tmp_path):
    def write(text):
        path = tmp_path / "my.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    "config",
    [
        FitConfig("/n.csv", "/e.csv"),
        FitConfig("/n.graphml"),
        FitConfig(
            "/n.csv", "/e.csv", id="the id", label='"quoted"', source="von", target="nach", weight="größe", split="part",
            features="age,bio:text", delimiter="\t", folds=3, abstain=0.9, format="parquet", seed=2**32 - 1,
            parameters={"backbone": "gat", "heads": 2, "norm": None, "beta": 1e-7, "kl": False, "features": "unit",
                        "relaxation": "auto", "prior": (1.0, 3.0)},
        ),
        FitConfig("/n.csv", "/e.csv", features="none", folds=0),
        FitConfig("/n.csv", "/e.csv", features="/x.npz"),
    ],
)  # fmt: skip
def test_toml_and_back(config, save):
    assert FitConfig(**read_fit_config(save(config.to_toml()))) == config


def test_paths_are_kept_whole(save, tmp_path, monkeypatch):
    """A run can be repeated from another folder; columns are no paths."""
    monkeypatch.chdir(tmp_path)
    read = read_fit_config(save(FitConfig("n.csv", "sub/../e.csv", features="x.npy").to_toml()))
    assert [Path(read[name]) for name in ("nodes", "edges", "features")] == [
        tmp_path / "n.csv",
        tmp_path / "e.csv",
        tmp_path / "x.npy",
    ]
    assert read_fit_config(save(FitConfig("n.csv", features="age").to_toml()))["features"] == "age"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("node = 'n.csv'", "Unknown key 'node'; did you mean 'nodes'?"),
        ("zzz = 1", "Unknown key 'zzz'; known are nodes, edges"),
        ("[parameters]\nbetta = 1", "Unknown parameter of ncgc fit 'betta'; did you mean 'beta'?"),
        ("hidden = 8", "the key 'hidden' belongs in the table [parameters]."),
        ("nodes = 3", "the key 'nodes' has the value 3, which is of the wrong kind."),
        ("folds = '3'", "the key 'folds' has the value '3', which is of the wrong kind."),
        ("abstain = 'much'", "the key 'abstain'"),
        ("label = ['a']", "the key 'label'"),
        ("parameters = 3", "'parameters' must be a table"),
        ("[parameters]\nhidden = 'wide'", "The 'hidden' parameter of ncgc fit must be an int"),
        ("[parameters]\nrandom_state = 3", "give no 'random_state' among the parameters"),
        ("nodes = ", "is not valid TOML"),
    ],
)
def test_a_bad_file_is_a_sentence_that_names_it(save, text, part):
    path = save(text)
    with pytest.raises(ParameterError) as raised:
        read_fit_config(path)
    assert str(raised.value).startswith(str(path))
    assert part in str(raised.value)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b"label = '\xff'")
    for name in ("missing.toml", ".", "latin.toml"):
        with pytest.raises(ParameterError, match=r"cannot be read|is not valid TOML"):
            read_fit_config(tmp_path / name)


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
    assert FitConfig("n.csv", features=features).columns == columns


@pytest.mark.parametrize("features", ["", "a,", ",", "a,,b", ":text"])
def test_an_empty_name_among_the_features(features):
    with pytest.raises(ParameterError, match="An empty name among the features"):
        _ = FitConfig("n.csv", features=features).columns


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"folds": 1}, "'folds'"),
        ({"folds": -1}, "'folds'"),
        ({"folds": True}, "'folds'"),
        ({"folds": 2.0}, "'folds'"),
        ({"abstain": 2.0}, "'abstain'"),
        ({"abstain": 0.0}, "'abstain'"),
        ({"abstain": float("nan")}, "'abstain'"),
        ({"abstain": 0.9, "folds": 0}, "needs a calibration"),
        ({"format": "xlsx"}, "'format'"),
        ({"seed": -1}, "'seed'"),
        ({"seed": 2**32}, "'seed'"),
        ({"seed": False}, "'seed'"),
        ({"parameters": {"dropout": 1.0}}, "'dropout'"),
        ({"parameters": {"random_state": 1}}, "'seed'"),
    ],
)
def test_values_out_of_range(wrong, part):
    with pytest.raises(ParameterError, match=part):
        FitConfig("n.csv", "e.csv", **wrong)
