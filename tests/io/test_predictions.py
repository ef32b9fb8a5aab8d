"""Predictions: every node under its own id, safe to open in a spreadsheet."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ncgc.errors import OutputError
from ncgc.io import write_predictions
from ncgc.io.predictions import predictions_frame


def frame(ids=("A", "B", "C"), classes=("ham", "spam"), **options):
    probabilities = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    return predictions_frame(list(ids), [1, -1, 0], probabilities, list(classes), **options)


def test_csv(tmp_path):
    write_predictions(tmp_path / "p.csv", frame(given=np.array([True, False, False]), clusters=np.array([3, 0, 1])))
    assert (tmp_path / "p.csv").read_text() == (
        "id,label,confidence,given,cluster,p_ham,p_spam\n"
        "A,spam,0.75,true,3,0.25,0.75\n"
        "B,,,false,0,0.5,0.5\n"
        "C,ham,1,false,1,1,0\n"
    )


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_ids_keep_their_type(tmp_path, ending):
    path = tmp_path / f"p{ending}"
    write_predictions(path, frame(ids=[-5, 7, 9]))
    back = pd.read_csv(path) if ending == ".csv" else pd.read_parquet(path)
    assert back["id"].tolist() == [-5, 7, 9]
    assert back["label"].isna().tolist() == [False, True, False]
    assert back["cluster"].isna().all()
    assert back["p_spam"].tolist() == [0.75, 0.5, 0.0]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_a_formula(tmp_path, start):
    wild = f"{start}cmd|' /C calc'!A0"
    path = tmp_path / "p.csv"
    write_predictions(path, frame(ids=[wild, "a=b", 'x,"y'], classes=(wild, "z")))
    back = pd.read_csv(path, keep_default_na=False)
    assert back["id"].tolist() == ["'" + wild, "a=b", 'x,"y']
    assert back["label"].tolist() == ["z", "", "'" + wild]
    assert f"p_{wild}" in back.columns  # harmless behind its p_
    write_predictions(path, pd.DataFrame({wild: [wild], "n": [-1.5]}))
    back = pd.read_csv(path)
    assert back.columns.tolist() == ["'" + wild, "n"]
    assert back.iloc[0].tolist() == ["'" + wild, -1.5]


def test_parquet_keeps_everything(tmp_path):
    write_predictions(tmp_path / "p.parquet", frame(ids=["=1", "B", "C"]))
    table = pq.read_table(tmp_path / "p.parquet")
    assert table["id"].to_pylist() == ["=1", "B", "C"]
    assert table["label"].to_pylist() == ["spam", None, "ham"]
    assert table["given"].to_pylist() == [False] * 3


def test_figures_are_rounded(tmp_path):
    probabilities = np.array([[1 / 3, 2 / 3]])
    write_predictions(tmp_path / "p.csv", predictions_frame([1], [1], probabilities, ["a", "b"]))
    assert (tmp_path / "p.csv").read_text().splitlines()[1] == "1,b,0.666667,false,,0.333333,0.666667"


def test_sentences(tmp_path):
    with pytest.raises(OutputError, match=r"written as .csv or .parquet. Got 'p.xlsx'"):
        write_predictions(tmp_path / "p.xlsx", frame())
    with pytest.raises(OutputError, match="cannot be written to"):
        write_predictions(tmp_path / "nowhere" / "p.csv", frame())
    with pytest.raises(
        OutputError, match=r"There are 2 ids, 3 labels and probabilities of the shape \(3, 2\) for 2 classes"
    ):
        frame(ids=["A", "B"])
