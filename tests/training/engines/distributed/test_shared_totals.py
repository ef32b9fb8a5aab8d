"""Totals shared by processes: what is outside a step does not move within it, and moves by what changed when it ends."""

import torch

from ncgc.ops import ALONE
from ncgc.training.engines.distributed.shared_totals import SharedTotals


def visited(totals, part, value, name="gram"):
    totals.part = part
    return totals.add(name, torch.tensor([value])).item()


def test_before_all_were_visited_a_part_stands_for_all():
    totals = SharedTotals([1, 3], [0, 1], ALONE)
    assert visited(totals, 0, 2.0) == 8.0  # a quarter of the nodes
    assert visited(totals, 1, 6.0) == 8.0


def test_a_part_does_not_know_of_the_others_in_its_step():
    totals = SharedTotals([2, 2], [0, 1], ALONE)
    visited(totals, 0, 1.0), visited(totals, 1, 10.0)
    totals.end_step()
    assert visited(totals, 0, 3.0) == 13.0  # the other as it was
    assert visited(totals, 1, 20.0) == 21.0  # and this one does not know the 3 yet
    totals.end_step()
    assert visited(totals, 0, 3.0) == 23.0


def test_the_table_of_all_begins_another_training_where_this_one_is():
    totals = SharedTotals([2, 2], [0, 1], ALONE)
    visited(totals, 0, 1.0), visited(totals, 1, 10.0)
    totals.end_step()
    totals.end_epoch()
    other = SharedTotals([2, 2], [0, 1], ALONE)
    other.load(totals.whole())
    assert visited(other, 1, 12.0) == visited(totals, 1, 12.0) == 13.0
