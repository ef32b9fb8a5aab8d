"""The map's places: repeatable to the bit, and sound for odd embeddings."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from ncgc.report import layout, layout_2d


def groups(n: int, k: int = 5, columns: int = 16) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    label = np.arange(n) % k
    centres = 4 * generator.normal(size=(k, columns))
    return (centres[label] + generator.normal(size=(n, columns))).astype(np.float32), label


def neighbours_agree(places: np.ndarray, label: np.ndarray) -> float:
    """Share of nodes whose nearest other node has the same label."""
    distance = cdist(places, places)
    np.fill_diagonal(distance, np.inf)
    return float((label[distance.argmin(axis=1)] == label).mean())


def test_like_nodes_lie_together_and_a_seed_fixes_the_bits():
    embeddings, label = groups(300)
    one, same = layout_2d(embeddings, seed=5), layout_2d(embeddings.copy(), seed=5)
    assert one.dtype == np.float32
    assert one.tobytes() == same.tobytes()
    assert neighbours_agree(one, label) > 0.97


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    monkeypatch.setattr(layout, "ITERATIONS", 260)
    embeddings, _ = groups(1500, k=7, columns=64)  # enough that without a limit two threads do give other bits
    made = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            made.append(layout_2d(embeddings, seed=5).tobytes())
    assert made[0] == made[1]


def test_more_nodes_than_are_laid_out_find_their_group(monkeypatch):
    monkeypatch.setattr(layout, "LARGEST", 150)
    embeddings, label = groups(900)
    one, same, other = (layout_2d(embeddings, seed=seed) for seed in (1, 1, 2))
    assert one.tobytes() == same.tobytes()
    assert one.tobytes() != other.tobytes()  # another sample
    assert neighbours_agree(one, label) > 0.97


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9])
@pytest.mark.parametrize("columns", [1, 2, 60])
def test_few_nodes(n, columns):
    places = layout_2d(np.random.default_rng(0).normal(size=(n, columns)), seed=0)
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()
    assert len(np.unique(places, axis=0)) == n


@pytest.mark.parametrize("value", [0.0, 3.0, -1e30])
def test_equal_embeddings_are_fanned_out(value):
    places = layout_2d(np.full((200, 8), value), seed=0)
    assert np.isfinite(places).all()
    assert len(np.unique(places, axis=0)) == 200


def test_duplicates_stay_together_but_apart_from_each_other():
    embeddings = np.repeat(groups(20)[0], 12, axis=0)
    places = layout_2d(embeddings, seed=0)
    assert len(np.unique(places, axis=0)) == 240
    assert neighbours_agree(places, np.repeat(np.arange(20), 12)) == 1.0


def test_no_nodes_no_columns_and_no_numbers():
    assert layout_2d(np.zeros((0, 4)), seed=0).shape == (0, 2)
    assert np.isfinite(layout_2d(np.zeros((5, 0)), seed=0)).all()
    with pytest.raises(ValueError, match="not finite"):
        layout_2d(np.array([[np.nan]]), seed=0)
    with pytest.raises(ValueError, match="n rows"):
        layout_2d(np.zeros(3), seed=0)
