"""Which nodes the map shows."""

import numpy as np
import pytest

from ncgc.report import Suggestion
from ncgc.report.sample import MOST, SAMPLE, shown_nodes


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
