"""Running totals: what parts sum to, as one sum over all nodes."""

import pytest
import torch

from ncgc import NCGC
from ncgc.training.engines.partition.engine import Partition
from ncgc.training.engines.partition.running_totals import RunningSum, Totals

UNLIKE = [torch.tensor([[9.0, 0.0]]), torch.tensor([[0.0, 4.0]]), torch.tensor([[1.0, 1.0]])]


def visit(totals, values, order=(0, 1, 2)):
    """What each part takes for the whole, in the order of the visits."""
    found = []
    for part in order:
        totals.part = part
        found.append(RunningSum(totals, "sum").total(values[part]))
    totals.end_epoch()
    return found


def test_standing_still_it_is_the_sum_however_unlike_the_parts_are():
    totals = Totals([9, 4, 2])
    visit(totals, UNLIKE)
    for found in visit(totals, UNLIKE, (2, 0, 1)):
        assert found.tolist() == [[10.0, 5.0]]


def test_the_others_are_as_they_were_last_visited():
    totals = Totals([9, 4, 2])
    visit(totals, UNLIKE)
    doubled = [2 * values for values in UNLIKE]
    first, second, third = visit(totals, doubled, (1, 0, 2))
    assert first.tolist() == [[10.0, 9.0]]  # 0, 2 as they were
    assert second.tolist() == [[19.0, 9.0]]
    assert third.tolist() == [[20.0, 10.0]]


def test_before_all_were_visited_those_seen_stand_for_all():
    first, second, third = visit(Totals([9, 4, 2]), UNLIKE)
    torch.testing.assert_close(first, UNLIKE[0] * 15 / 9)
    torch.testing.assert_close(second, (UNLIKE[0] + UNLIKE[1]) * 15 / 13)
    assert third.tolist() == [[10.0, 5.0]]


def test_what_is_handed_out_may_be_overwritten():
    totals = Totals([1, 1])
    for part in (0, 1):
        totals.part = part
        totals.add("sum", torch.ones(2)).zero_()
    assert totals.add("sum", torch.ones(2)).tolist() == [2.0, 2.0]


def test_going_on_from_the_table_is_going_on_to_the_bit():
    generator = torch.Generator().manual_seed(0)
    draw = lambda: [torch.randn(4, 4, generator=generator) for _ in range(3)]  # noqa: E731
    totals, again = Totals([5, 5, 5]), Totals([5, 5, 5])
    for _ in range(7):
        visit(totals, draw())
    again.load(totals.table)
    values = draw()
    for one, other in zip(visit(totals, values), visit(again, values), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("steps", [1, 3])
def test_no_step_is_taken_on_a_part_alone(make_planted, monkeypatch, steps):
    """From the first step on, every sum that a layer or loss works with is one over all parts."""
    stepped, found = [], {}
    add, train_epoch = Totals.add, Partition.step

    def spy(self, name, values):
        estimate = add(self, name, values)
        whole = self.table[name].sum(0)
        if stepped:
            found.setdefault(name, []).append(bool(torch.allclose(estimate, whole, rtol=1e-4, atol=1e-6)))
            assert self._seen[name] == set(range(len(self.owned)))
        return estimate

    def mark(self, epoch):
        step = self.learner.optimizer.step

        def noted(*args):
            stepped.append(epoch)
            return step(*args)

        monkeypatch.setattr(self.learner.optimizer, "step", noted)
        return train_epoch(self, epoch)

    monkeypatch.setattr(Totals, "add", spy)
    monkeypatch.setattr(Partition, "step", mark)
    NCGC(batch="partitions", parts=3, steps_per_epoch=steps, epochs=8, warmup=3, ramp=2, hidden=8).fit(*make_planted())
    assert set(found) == {"layer 0", "layer 0, gradient", "layer 1", "layer 1, gradient", "frequencies"}
    assert all(all(same) for same in found.values())


def test_cluster_frequencies_add_up_to_the_nodes_from_the_start(make_planted, monkeypatch):
    sums, add = [], Totals.add

    def spy(self, name, values):
        estimate = add(self, name, values)
        if name == "frequencies":
            sums.append(estimate.sum().item())
        return estimate

    monkeypatch.setattr(Totals, "add", spy)
    NCGC(batch="partitions", parts=4, epochs=6, warmup=2, ramp=1, hidden=8).fit(*make_planted())
    assert len(sums) == 4 * 4  # epochs 3 to 6
    assert sums == pytest.approx([45.0] * 16, rel=1e-4)
