"""Bytes by global row: the same wherever a row is drawn, and even enough."""

import numpy as np
import pytest
import torch
from scipy import sparse

from ncgc.ops import RowGenerator, SparseMatrix, keep_mask


def test_a_row_gets_the_same_bytes_everywhere():
    whole, part = RowGenerator(3, torch.arange(50)), RowGenerator(3, torch.tensor([40, 7, 8]))
    for step in (1, 2):
        whole.begin(step)
        part.begin(step)
        for shape in ((19,), (), (8,)):
            assert torch.equal(whole.bytes((50, *shape))[[40, 7, 8]], part.bytes((3, *shape)))


def test_steps_calls_seeds_and_rows_differ():
    draws = RowGenerator(3, torch.arange(4))
    first = draws.bytes((4, 64))
    assert len({tuple(row) for row in first.tolist()}) == 4
    assert not torch.equal(first, draws.bytes((4, 64)))
    draws.begin(0)
    assert torch.equal(first, draws.bytes((4, 64)))
    draws.begin(1)
    assert not torch.equal(first, draws.bytes((4, 64)))
    assert not torch.equal(first, RowGenerator(4, torch.arange(4)).bytes((4, 64)))


def test_entries_are_drawn_by_row_and_column():
    matrix = sparse.random_array((30, 40), density=0.3, rng=np.random.default_rng(0), format="csr")
    rows = np.array([21, 4])
    whole = RowGenerator(1, torch.arange(30)).entry_bytes(SparseMatrix.from_scipy(matrix))
    part = RowGenerator(1, torch.from_numpy(rows)).entry_bytes(SparseMatrix.from_scipy(matrix[rows]))
    ends = matrix.indptr
    assert torch.equal(torch.cat([whole[ends[row] : ends[row + 1]] for row in rows]), part)


def test_edges_are_drawn_by_the_global_numbers_of_both_ends():
    whole = RowGenerator(5, torch.arange(6))
    square = SparseMatrix.from_scipy(sparse.csr_array(np.ones((6, 6), dtype=np.float32)))
    some = torch.tensor([4, 0, 3])
    part = SparseMatrix.from_scipy(sparse.csr_array(np.ones((3, 3), dtype=np.float32)))
    drawn = whole.edge_bytes(square).view(6, 6)
    assert torch.equal(RowGenerator(5, some).edge_bytes(part).view(3, 3), drawn[some][:, some])
    assert not torch.equal(drawn, drawn.t())


@pytest.mark.parametrize("rows", [1, 7])
def test_neighbouring_words_and_rows_share_no_key(rows):
    """Row r word w and row r+1 word w−1 are as far apart as any: no byte is another's shifted."""
    draws = RowGenerator(3, torch.arange(2000) * rows)
    drawn = (draws.bytes((2000, 64)) >= 128).double() - 0.5
    pairs = {
        "next row": (drawn[1:], drawn[:-1]),
        "next word": (drawn[:, 8:], drawn[:, :-8]),
        "next row, word before": (drawn[1:, :-8], drawn[:-1, 8:]),
        "next row, word after": (drawn[1:, 8:], drawn[:-1, :-8]),
        "next call": (drawn, (draws.bytes((2000, 64)) >= 128).double() - 0.5),
    }
    for name, (one, other) in pairs.items():
        assert abs(float((one * other).mean()) * 4) < 4.5 / one.numel() ** 0.5, name  # 4.5 standard errors


def test_bytes_are_even_and_rates_are_kept():
    draws = RowGenerator(0, torch.arange(4000))
    counts = torch.bincount(draws.bytes((4000, 64)).flatten().long(), minlength=256).double()
    expected = 4000 * 64 / 256
    assert float(((counts - expected) ** 2 / expected).sum()) < 256 + 5 * 512**0.5  # χ² of 255 degrees
    bits = draws.bytes((4000, 64)).double()
    assert abs(float(torch.corrcoef(bits[:, :8].t()).fill_diagonal_(0).abs().max())) < 0.08
    mask, scale = keep_mask((4000, 64), 0.7, draws)
    assert abs(float(mask.double().mean()) * scale - 1) < 0.02
