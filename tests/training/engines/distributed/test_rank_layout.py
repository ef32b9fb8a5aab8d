"""Training by parts is the same in any number of processes, near that without any, and goes on after a failure."""

import numpy as np
import pytest
from ncgc.training.engines.distributed.fitting import fit_distributed, fit_with_checkpoints, make_trainer
from ncgc.training.engines.distributed.part_trainer import dealt

from ncgc import NCGC
from ncgc.errors import ParameterError
from ncgc.training.engines.distributed import part_trainer
from ncgc.training.engines.distributed.group import Group
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
        fit_with_checkpoints(model, *planted, group, watch, folder, every=3, resume=folder is not None)
        return model.history_["total"], model.best_epoch_, model.decision_function() if group.first else None

    return run


@pytest.mark.parametrize("size", [3])  # of which two have two parts, and one has one
@pytest.mark.parametrize("most", [0.0, 100.0])  # labels in their parts, and in blocks of their own
def test_parts_on_many_processes_are_parts_on_one(make_planted, in_processes, monkeypatch, size, most):
    """With dropout, running totals and several steps an epoch: the same losses, epoch and predictions, but for rounding."""
    planted = make_planted()
    monkeypatch.setattr(part_trainer, "MOST", most)
    monkeypatch.setattr(labelled, "MOST", most)
    ranks = in_processes(lambda group: [fitted(planted, options)(group) for options in KINDS], size)
    for number, options in enumerate(KINDS):
        model = NCGC(**(BY_PARTS | options))
        trainer, _, _ = make_trainer(model, *planted, Group())
        assert bool(trainer.of_labels) == (most > 0 and options.get("backbone", "gcn") in labelled.BACKBONES)
        fit_distributed(model, *planted, Group())
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
    assert dealt(7, 3).tolist() == [0, 0, 0, 1, 1, 2, 2]
    with pytest.raises(ParameterError, match="2 parts cannot be dealt to 3 processes"):
        dealt(2, 3)
    with pytest.raises(ParameterError, match="norm='batch'"):
        fit_distributed(NCGC(**(BY_PARTS | {"norm": "batch"})), *make_planted(), Group())
