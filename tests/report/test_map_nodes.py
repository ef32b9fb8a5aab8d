"""Which nodes the map shows, packed and unpacked."""

import base64

import numpy as np
import pytest

from ncgc.report import Suggestion
from ncgc.report.map_nodes import MOST, SAMPLE, map_payload, positions, shown_nodes


def unpacked(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_what_is_packed_comes_out_again(full_data):
    data = full_data(n=50, k=4)
    packed = map_payload(data)
    given, predicted = unpacked(packed["given"], "u1"), unpacked(packed["predicted"], "u1")
    assert np.array_equal(np.where(given == 255, -1, given.astype(int)), data.given)
    assert np.array_equal(predicted, data.predicted)
    assert np.allclose(unpacked(packed["confidence"], "u1") / 255, data.confidence, atol=0.5 / 255 + 1e-9)
    top = unpacked(packed["top"], "u1").reshape(50, 3)
    assert np.array_equal(top, np.argsort(-data.probabilities, axis=1)[:, :3])
    shares = unpacked(packed["topShare"], "u1").reshape(50, 3) / 255
    assert np.allclose(shares, -np.sort(-data.probabilities, axis=1)[:, :3], atol=0.5 / 255 + 1e-9)
    assert packed["ids"] == list(data.node_ids)


def test_distances_keep_their_proportion(make_data):
    places = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 4.0]], dtype=np.float32)
    data = make_data(n=3, embedding2d=places)
    x, y = unpacked(map_payload(data)["place"], "<u2").reshape(3, 2).T.astype(float)
    assert x[1] - x[0] == 65535
    assert (y[2] - y[0]) / (x[1] - x[0]) == pytest.approx(0.4, abs=1e-4)
    assert y[0] + y[2] == pytest.approx(65535, abs=1)  # in the middle


def test_many_classes_take_two_bytes(make_data):
    data = make_data(n=600, k=300)
    packed = map_payload(data)
    assert packed["wide"]
    given = unpacked(packed["given"], "<u2")
    assert np.array_equal(np.where(given == 65535, -1, given.astype(int)), data.given)


@pytest.mark.parametrize("n", [1, 2])
def test_one_place_for_all_is_no_division_by_nought(make_data, n):
    packed = map_payload(make_data(n=n, k=1, embedding2d=np.full((n, 2), 7.0, dtype=np.float32)))
    assert np.isfinite(unpacked(packed["place"], "<u2")).all()
    assert packed["tops"] == 1


def test_counted_ids_need_not_be_said(make_data):
    assert map_payload(make_data(node_ids=np.arange(60)))["ids"] is None
    assert map_payload(make_data(node_ids=np.arange(1, 61)))["ids"] == list(range(1, 61))
    assert map_payload(make_data(node_ids=[2**53 + i for i in range(60)]))["ids"][1] == "9007199254740993"
    assert map_payload(make_data(node_ids=[str(i) for i in range(60)]))["ids"][:2] == ["0", "1"]


def test_no_places_no_map(make_data):
    data = make_data(embedding2d=None)
    assert map_payload(data) is None
    assert positions(data) == {}


@pytest.fixture
def sized(make_data):
    def make(n, labelled, **fields):
        places = np.zeros((n, 2), dtype=np.float32)
        given = np.full(n, -1)
        given[np.linspace(0, n - 1, labelled).astype(int)] = 0
        shares = np.full((n, 1), 1.0)
        return make_data(
            n=n, k=1, node_ids=range(n), given=given, predicted=np.zeros(n, dtype=int), probabilities=shares,
            embedding2d=places, **fields,
        )  # fmt: skip

    return make


def test_all_of_as_many_as_can_be_shown(sized):
    assert np.array_equal(shown_nodes(sized(MOST, 10)), np.arange(MOST))


def test_of_more_a_draw_with_every_labelled_and_suggested_node(sized):
    data = sized(MOST + 1, 500, suggestions=[Suggestion(12_345, 1.0), Suggestion(7, 0.5)])
    shown = shown_nodes(data)
    assert len(shown) == SAMPLE
    assert len(np.unique(shown)) == SAMPLE
    assert set(np.flatnonzero(data.given >= 0)) | {12_345, 7} <= set(shown.tolist())


def test_the_draw_is_that_of_the_seed(sized):
    one, same, other = (shown_nodes(sized(60_000, 50, seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(("labelled", "shown"), [(30_000, 40_000), (90_000, 50_000)])
def test_many_labelled_nodes_leave_room_for_others(sized, labelled, shown):
    data = sized(100_000, labelled)
    nodes = shown_nodes(data)
    assert len(nodes) == shown
    assert (data.given[nodes] >= 0).sum() >= min(labelled, 40_000)
    assert (data.given[nodes] < 0).any()
