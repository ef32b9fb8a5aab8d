"""Training by parts is the same in any number of processes, near that without any, and goes on after a failure."""

import numpy as np
import pytest
import torch

from ncgc import NCGC
from ncgc.errors import ParameterError
from ncgc.ops import ALONE
from ncgc.training import Checkpointing
from ncgc.training.engines.distributed import rank_layout
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.distributed.rank_layout import SharedTotals, assign_parts
from ncgc.training.engines.partition import label_blocks as labelled

SHORT = {"epochs": 10, "warmup": 2, "ramp": 2, "hidden": 8, "random_state": 5}
BY_PARTS = SHORT | {"batch": "partitions", "parts": 5, "halo": 1, "prior": "estimated"}
KINDS = [
    {},
    {"backbone": "sage", "steps_per_epoch": 3},
    {"backbone": "appnp", "num_layers": 1, "steps": 2, "steps_per_epoch": 2, "averaging": 0.5},
    {"backbone": "gcnii", "teacher": 0.9},
    {"halo": 0},
]


def fitted(planted, options, folder=None, fail=None):
    """A training for ``in_processes``; it breaks off after the epoch ``fail``, and goes on where there is a checkpoint."""

    def run(group):
        def watch(epoch, quantities):
            if epoch == fail:
                raise RuntimeError("the power failed")

        model = NCGC(**(BY_PARTS | options))
        checkpoint = None if folder is None else Checkpointing(folder, every=3, resume=True)
        model.fit(*planted, group=group, watch=watch, checkpoint=checkpoint)
        return model.history_["total"], model.best_epoch_, model.decision_function() if group.first else None

    return run


@pytest.mark.parametrize("size", [3])  # of which two have two parts, and one has one
@pytest.mark.parametrize("most", [0.0, 100.0])  # labels in their parts, and in blocks of their own
def test_parts_on_many_processes_are_parts_on_one(make_planted, in_processes, ncgc_trainer, monkeypatch, size, most):
    """With dropout, running totals and several steps an epoch: the same losses, epoch and predictions, but for rounding."""
    planted = make_planted()
    monkeypatch.setattr(rank_layout, "MOST", most)
    monkeypatch.setattr(labelled, "MOST", most)
    ranks = in_processes(lambda group: [fitted(planted, options)(group) for options in KINDS], size)
    for number, options in enumerate(KINDS):
        model = NCGC(**(BY_PARTS | options))
        layout = ncgc_trainer(model, *planted, Group()).engine.layout
        assert bool(layout.label_blocks) == (most > 0 and options.get("backbone", "gcn") in labelled.SUPPORTED)
        model.fit(*planted, group=Group())
        for found in ranks:
            losses, best, _ = found[number]
            np.testing.assert_allclose(losses, model.history_["total"], atol=1e-4, rtol=0, err_msg=str(options))
            assert best == model.best_epoch_
        np.testing.assert_allclose(ranks[0][number][2], model.decision_function(), atol=1e-3, err_msg=str(options))
        beside = NCGC(**(BY_PARTS | options)).fit(*planted)  # whose parts know the earlier ones of a step
        np.testing.assert_allclose(model.history_["total"], beside.history_["total"], rtol=0.01, err_msg=str(options))


def test_it_goes_on_where_it_was_broken_off(make_planted, raw_processes, in_processes, tmp_path):
    planted, options = make_planted(), KINDS[1]
    (unbroken, _, _), _ = in_processes(fitted(planted, options), 2)
    for good, message in raw_processes(fitted(planted, options, tmp_path, fail=7), 2):
        assert good is False
        assert "the power failed" in message
    (resumed, _, _), _ = in_processes(fitted(planted, options, tmp_path), 2)
    assert resumed.tolist() == pytest.approx(unbroken.tolist(), abs=1e-6)


def test_every_process_gets_a_part(make_planted):
    assert assign_parts(7, 3).tolist() == [0, 0, 0, 1, 1, 2, 2]
    with pytest.raises(ParameterError, match="2 parts cannot be divided among 3 processes"):
        assign_parts(2, 3)
    with pytest.raises(ParameterError, match="norm='batch'"):
        NCGC(**(BY_PARTS | {"norm": "batch"})).fit(*make_planted(), group=Group())


# ---------------------------------------------------------------- totals of all processes
# what is outside a step does not move within it, and moves by what changed when it ends


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


# ---------------------------------------------------------------- embeddings fetched from other processes

FOUR_PARTS = {"hidden": 8, "random_state": 5, "batch": "partitions", "parts": 4}
BACKBONES = {
    "gcn": {},
    "sage": {"backbone": "sage"},
    "appnp": {"backbone": "appnp", "num_layers": 1, "steps": 3},
    "gcnii": {"backbone": "gcnii", "num_layers": 3},
}


def kept_rows(make_trainer, planted, options):
    """For ``in_processes``: the nodes and the rows that are kept after one evaluation pass, and those that the parts need."""

    def run(group):
        engine = make_trainer(NCGC(**(FOUR_PARTS | options)), *planted, group).engine
        engine.evaluate()
        layout = engine.layout
        needed = [layout.source.graph.adjacency[layout.operators(part).part.nodes].indices for part in layout.own]
        return layout.history.nodes, [rows.numpy() for rows in layout.history.products], np.concatenate(needed)

    return run


@pytest.mark.parametrize("halo", [0, 1])
def test_rows_are_those_of_one_process(make_planted, in_processes, ncgc_trainer, halo):
    planted = make_planted()
    options = [kind | {"halo": halo} for kind in BACKBONES.values()]
    ranks = in_processes(lambda group: [kept_rows(ncgc_trainer, planted, each)(group) for each in options], 2)
    for number, each in enumerate(options):
        everybody, whole, _ = kept_rows(ncgc_trainer, planted, each)(Group())
        place = np.argsort(everybody)
        for found in ranks:
            nodes, products, needed = found[number]
            assert set(needed) <= set(nodes)
            assert len(products) == len(whole) > 0
            for rows, all_rows in zip(products, whole, strict=True):
                np.testing.assert_allclose(rows, all_rows[place][nodes], atol=1e-5, err_msg=str(each))
