"""The training of several processes is that of one, and that of one the full-batch Trainer's."""

import pytest

from ncgc import NCGC
from ncgc.distributed.fitting import fit_distributed
from ncgc.distributed.group import Group
from ncgc.errors import ParameterError

SHORT = {"epochs": 23, "warmup": 3, "ramp": 3, "hidden": 16, "sinkhorn_iterations": 3, "random_state": 5}


def fitted(planted, group, **parameters):
    graph, split = planted
    return fit_distributed(NCGC(**(SHORT | parameters)), graph, split, group)


def history(planted, **parameters):
    def run(group):
        model = fitted(planted, group, **parameters)
        scores = model.decision_function().tolist() if group.first else []
        return model.history_["total"].tolist(), model.best_epoch_, scores

    return run


@pytest.mark.parametrize("backbone", ["gcn", "sage", "gcnii", "appnp"])
def test_one_process_is_the_trainer_when_nothing_is_dropped(make_planted, backbone):
    planted = make_planted("sparse" if backbone == "sage" else "dense", validation=backbone != "appnp")
    options = {"backbone": backbone, "dropout": 0.0, "input_dropout": 0.0, "prior": "estimated"}
    model = fitted(planted, Group(), **options)
    reference = NCGC(**(SHORT | options)).fit(*planted)
    assert model.history_["total"] == pytest.approx(reference.history_["total"], abs=1e-4)
    assert model.history_["kl"][-1] > 0
    assert model.history_["pl"][-1] > 0
    assert model.best_epoch_ == reference.best_epoch_
    assert model.decision_function() == pytest.approx(reference.decision_function(), abs=1e-3)
    assert (model.transduction_ == reference.transduction_).all()


@pytest.mark.parametrize(
    ("size", "form", "options"),
    [
        (2, "sparse", {"input_dropout": 0.5, "node_dropout": 0.2}),
        (4, "dense", {"prior": "estimated", "sinkhorn_iterations": 1}),
        (2, "dense", {"backbone": "appnp", "num_layers": 1, "steps": 2}),
    ],
)
def test_many_processes_are_one_with_dropout(make_planted, in_processes, size, form, options):
    planted = make_planted(form)
    ((one, best, scores),) = [history(planted, **options)(Group())]
    found = in_processes(history(planted, **options), size)
    for losses, epoch, _ in found:
        assert losses == pytest.approx(one, abs=1e-4)
        assert epoch == best
    for row, expected in zip(found[0][2], scores, strict=True):
        assert row == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"backbone": "gat"}, "'gat' does not train"),
        ({"norm": "batch"}, "norm='batch'"),
        ({"batch": "partitions"}, "in one process only"),
    ],
)
def test_what_is_not_there_yet_is_a_sentence(make_planted, options, words):
    with pytest.raises(ParameterError, match=words):
        fitted(make_planted(), Group(), **options)
