"""The objective: which parts, when, with what weight, and where the gradient goes."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from ncgc.errors import ParameterError, TrainingError
from ncgc.losses import (
    Objective,
    ObjectiveSettings,
    PriorEstimate,
    embedded_clustering_loss,
    marginal_error,
    objective,
    sinkhorn,
    soft_cross_entropy,
)

N, K, D = 30, 3, 5
TRAIN = torch.tensor([4, 9, 20, 7, 1, 2])
LABELS = torch.tensor([0, 1, 2, 0, 1, 2])
UNLABELLED = torch.tensor([node for node in range(N) if node not in set(TRAIN.tolist())])

PAPER = {"epsilon": 0.04, "sinkhorn_iterations": 3, "pseudo_label_scores": "probabilities"}  # sinkhorn's own defaults


def make(**changes):
    return Objective(ObjectiveSettings(**({"warmup": 0, "ramp": 0} | PAPER | changes)), K, TRAIN, LABELS, UNLABELLED)


@pytest.fixture
def tensors():
    generator = torch.Generator().manual_seed(0)
    return (
        torch.randn(N, D, generator=generator).requires_grad_(),
        (2 * torch.randn(N, K, generator=generator)).requires_grad_(),
        torch.randn(K, D, generator=generator).requires_grad_(),
    )


def test_parts_are_the_free_functions(tensors):
    embeddings, logits, centroids = tensors
    parts = make()(embeddings, logits, centroids, epoch=0)
    assert list(parts) == ["class", "kl", "pl"]
    torch.testing.assert_close(parts["class"], cross_entropy(logits[TRAIN], LABELS))
    torch.testing.assert_close(parts["kl"], embedded_clustering_loss(embeddings, centroids))
    targets = sinkhorn(logits[UNLABELLED].softmax(1), 0.04, 3)
    torch.testing.assert_close(parts["pl"], soft_cross_entropy(logits[UNLABELLED], targets))


def test_total_is_weighted_and_ramped(tensors):
    made = make(label_loss_weight=2.0, kl_weight=0.5, pl_weight=3.0, warmup=10, ramp=4)
    parts = made(*tensors, epoch=11)
    share = made.ramp(11)
    assert share == 0.5
    expected = 2 * parts["class"] + share * (0.5 * parts["kl"] + 3 * parts["pl"])
    torch.testing.assert_close(made.total(parts, 11), expected)


def test_ramp():
    made = make(warmup=3, ramp=4)
    assert [made.ramp(epoch) for epoch in range(9)] == [0, 0, 0, 0.25, 0.5, 0.75, 1, 1, 1]
    assert [make(warmup=2, ramp=0).ramp(epoch) for epoch in range(4)] == [0, 0, 1, 1]
    assert make(warmup=0, ramp=0).ramp(0) == 1


def test_what_is_off_or_warming_up_is_not_computed(tensors, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("computed")

    for name in ("embedded_clustering_loss", "sinkhorn", "soft_cross_entropy"):
        monkeypatch.setattr(objective, name, refuse)
    assert list(make(warmup=5)(*tensors, epoch=4)) == ["class"]
    assert list(make(kl_weight=0.0, pl_weight=0.0)(*tensors, epoch=9)) == ["class"]
    monkeypatch.setattr(objective, "hard_cross_entropy", refuse)
    assert list(make(label_loss_weight=0.0, warmup=5)(*tensors, epoch=0)) == []


def test_without_unlabelled_labelled_or_centroids(tensors):
    embeddings, logits, _ = tensors
    none = torch.empty(0, dtype=torch.long)
    settings = ObjectiveSettings(warmup=0, ramp=0)
    assert list(Objective(settings, K, TRAIN, LABELS, none)(*tensors, epoch=0)) == ["class", "kl"]
    assert list(Objective(settings, K, none, none, UNLABELLED)(*tensors, epoch=0)) == ["kl", "pl"]
    assert list(make()(embeddings, logits, None, epoch=0)) == ["class", "pl"]
    assert Objective(settings, K, TRAIN, LABELS, none).targets(logits).shape == (0, K)


def test_nothing_to_train_on_is_a_sentence(tensors):
    made = make(label_loss_weight=0.0, warmup=5)
    with pytest.raises(TrainingError, match="Epoch 0 has nothing to train on"):
        made.total(made(*tensors, epoch=0), 0)


def test_gradient_reaches_everything_and_only_through_predictions(tensors):
    embeddings, logits, centroids = tensors
    made = make()
    made.total(made(*tensors, epoch=0), 0).backward()
    assert all(float(tensor.grad.abs().sum()) > 0 for tensor in tensors)
    # the pseudo-labels are constants: the gradient is that of soft cross-entropy with them held
    source = torch.randn(N, K).requires_grad_()
    logits.grad = None
    made(embeddings, logits, centroids, 0, source_logits=source)["pl"].backward()
    assert source.grad is None
    held = logits.detach().clone().requires_grad_()
    soft_cross_entropy(held, made.targets(source), UNLABELLED).backward()
    torch.testing.assert_close(logits.grad, held.grad)
    assert (logits.grad[TRAIN] == 0).all()


def test_targets_come_from_the_source_and_carry_no_gradient(tensors):
    _, logits, _ = tensors
    source = torch.randn(N, K).requires_grad_()
    targets = make().targets(source)
    assert not targets.requires_grad
    torch.testing.assert_close(targets, sinkhorn(source[UNLABELLED].softmax(1)))
    parts = make()(tensors[0], logits, None, 0, source_logits=source)
    torch.testing.assert_close(parts["pl"], soft_cross_entropy(logits[UNLABELLED], targets))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("probabilities", lambda logits: logits.softmax(1)),
        ("log_probabilities", lambda logits: logits.log_softmax(1)),
        ("logits", lambda logits: logits),
    ],
)
@pytest.mark.parametrize("prior", ["uniform", "estimated", (0.5, 0.3, 0.2)])
def test_scores_and_prior(tensors, name, function, prior):
    logits = tensors[1].detach()
    made = make(
        pseudo_label_scores=name, prior=prior, epsilon=0.5, relaxation=0.3, prior_momentum=0.5, prior_shrinkage=0.2
    )
    if prior == "estimated":
        shares = PriorEstimate(K, 0.5, 0.2).update(logits[UNLABELLED].softmax(1))
    else:
        shares = None if prior == "uniform" else prior
    expected = sinkhorn(function(logits[UNLABELLED]), 0.5, 3, shares, 0.3)
    torch.testing.assert_close(made.targets(logits), expected)
    assert made.marginal_error == pytest.approx(marginal_error(expected, shares), abs=1e-6)


def test_estimated_prior_moves_once_a_call_and_not_in_the_warm_up(tensors):
    made = make(prior="estimated", warmup=1)
    uniform = made.prior
    torch.testing.assert_close(uniform, torch.full((K,), 1 / K, dtype=torch.float64))
    made(*tensors, epoch=0)
    assert made.prior.equal(uniform)
    assert made.marginal_error is None
    made(*tensors, epoch=1)
    expected = PriorEstimate(K).update(tensors[1][UNLABELLED].softmax(1))
    torch.testing.assert_close(made.prior, expected, rtol=1e-5, atol=1e-7)


def test_labels_never_reach_the_targets(tensors):
    """Other labels, or other logits of the labelled nodes, and the pseudo-labels stay the same."""
    settings = ObjectiveSettings(prior="estimated")
    logits = tensors[1].detach()
    one = Objective(settings, K, TRAIN, LABELS, UNLABELLED).targets(logits)
    changed = logits.clone()
    changed[TRAIN] = 9.0
    other = Objective(settings, K, TRAIN, LABELS.flip(0), UNLABELLED).targets(changed)
    assert one.equal(other)


def test_without_sinkhorn_targets_are_the_probabilities(tensors):
    made = make(use_sinkhorn=False, pseudo_label_scores="logits")
    torch.testing.assert_close(made.targets(tensors[1]), tensors[1][UNLABELLED].softmax(1).detach())
    assert made.marginal_error > 0


def test_state_goes_round(tensors):
    one, other = make(prior="estimated"), make(prior="estimated")
    one.targets(tensors[1])
    other.load_state_dict(one.state_dict())
    torch.testing.assert_close(one.targets(tensors[1]), other.targets(tensors[1]))
    torch.testing.assert_close(one.prior, other.prior)
    assert make().state_dict() == {}
    make().load_state_dict({})


def test_settings_compare_whatever_the_prior_came_as():
    one, other = ObjectiveSettings(prior=np.array([0.5, 0.5])), ObjectiveSettings(prior=torch.tensor([0.5, 0.5]))
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"epsilon": 0.0}, "The 'epsilon' parameter of ObjectiveSettings must be a float in the range (0.0, inf)."),
        (
            {"pl_weight": -1.0},
            "The 'pl_weight' parameter of ObjectiveSettings must be a float in the range [0.0, inf).",
        ),
        ({"relaxation": 2}, "The 'relaxation' parameter"),
        ({"sinkhorn_iterations": 1.5}, "The 'sinkhorn_iterations' parameter"),
        ({"warmup": -1}, "The 'warmup' parameter"),
        ({"ramp": None}, "Got None instead."),
        ({"prior": "true"}, "must be one of 'uniform', 'estimated' or an array of shares. Got 'true' instead."),
        ({"prior": [1.0, -1.0]}, "Got [1.0, -1.0] instead."),
        ({"pseudo_label_scores": "softmax"}, "Got 'softmax' instead."),
        ({"prior_momentum": 1.1}, "The 'prior_momentum' parameter"),
    ],
)
def test_bad_settings_are_a_sentence(change, sentence):
    with pytest.raises(ParameterError) as caught:
        ObjectiveSettings(**change)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((K, TRAIN, LABELS[:-1], UNLABELLED), "5 labels for 6 labelled nodes"),
        ((2, TRAIN, LABELS, UNLABELLED), "must be classes from 0 to 1. Got values from 0 to 2 instead."),
        ((K, TRAIN, LABELS - 1, UNLABELLED), "Got values from -1 to 1 instead."),
        ((K, TRAIN, LABELS, torch.cat([UNLABELLED, UNLABELLED[:1]])), "names a node twice"),
        ((K, TRAIN, LABELS, torch.arange(N)), "6 nodes are both in 'train_index' and in 'unlabelled_index'"),
        ((K, TRAIN.float(), LABELS, UNLABELLED), "must be a vector of whole numbers"),
        ((K, TRAIN, LABELS, torch.ones(N, dtype=torch.bool)), "Got the type torch.bool"),
        ((0, TRAIN, LABELS, UNLABELLED), "The 'num_classes' parameter of Objective"),
    ],
)
def test_bad_nodes_are_a_sentence(arguments, sentence):
    with pytest.raises(ParameterError) as caught:
        Objective(ObjectiveSettings(), *arguments)
    assert sentence in str(caught.value)


def test_prior_of_the_wrong_length_is_a_sentence():
    with pytest.raises(ParameterError, match=r"The 'prior' parameter of Objective must be .* Got the shape \(2,\)"):
        make(prior=[0.5, 0.5])
