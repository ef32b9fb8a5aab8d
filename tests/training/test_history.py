"""History: columns, missing cells and the CSV."""

import csv
import io

import numpy as np
import pytest

from ncgc.training import History


@pytest.fixture
def history():
    result = History()
    result.append(epoch=1, total=2.5)
    result.append(epoch=2, total=1.25, kl=0.1)
    result.append(epoch=3, total=1e-9)
    return result


def test_columns_in_order_of_appearance_with_nan_where_missing(history):
    assert history.columns == ["epoch", "total", "kl"]
    np.testing.assert_array_equal(history["total"], [2.5, 1.25, 1e-9])
    np.testing.assert_array_equal(history["kl"], [np.nan, 0.1, np.nan])
    assert len(history) == 3
    assert [row["epoch"] for row in history] == [1, 2, 3]


def test_csv_reads_back(history):
    rows = list(csv.DictReader(io.StringIO(history.to_csv())))
    assert [row["kl"] for row in rows] == ["", "0.1", ""]
    assert [float(row["total"]) for row in rows] == [2.5, 1.25, 1e-9]
    assert history.to_csv().startswith("epoch,total,kl\n")


def test_last_and_at_are_copies(history):
    history.last()["total"] = 0
    history.at(2)["total"] = 0
    assert history.last()["total"] == 1e-9
    assert history.at(2) == {"epoch": 2, "total": 1.25, "kl": 0.1}
    assert history.at(0) == {}
    assert History().last() == {}


def test_an_unknown_column_is_named(history):
    with pytest.raises(KeyError, match="No quantity 'pl' in the history; it has epoch, total, kl"):
        history["pl"]
