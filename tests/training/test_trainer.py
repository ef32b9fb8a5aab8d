"""The loop: which weights are kept, what ends it, and what it draws from."""

import numpy as np
import pytest
import torch

from ncgc.errors import TrainingError
from ncgc.losses import student_t
from ncgc.nn import BACKBONES


def weights(trainer):
    return {name: value.clone() for name, value in trainer.network.state_dict().items()}


def mislead(trainer, epoch):
    """From epoch 20 on the labels are wrong, so that the best epoch is not the last."""
    if epoch == 20:
        trainer.objective.train_labels = (trainer.objective.train_labels + 1) % 3


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_best_epochs_weights_come_back_to_the_bit(make_trainer, planted, backbone):
    """Recorded by the watcher at each epoch, batch norm's running means among them."""
    recorded = {}

    def watch(epoch, _):
        recorded[epoch] = weights(trainer)
        mislead(trainer, epoch)

    trainer = make_trainer(watch=watch, network={"backbone": backbone}, learning_rate=0.05)
    result = trainer.run()
    assert len(recorded) == 30
    assert 1 <= result.best_epoch < 30  # it trained on after the best, or this says nothing
    assert same(weights(trainer), recorded[result.best_epoch])
    assert not same(weights(trainer), recorded[30])
    graph, split = planted
    with torch.no_grad():
        predicted = trainer.network(trainer.operators).logits.argmax(dim=1).numpy()
    accuracy = (predicted[split.val] == graph.labels[split.val]).mean()
    assert accuracy == result.history.at(result.best_epoch)["val_accuracy"]
    assert accuracy == result.history["val_accuracy"].max()
    assert not trainer.network.training


def test_centroids_are_those_of_the_best_epoch(make_trainer):
    recorded = {}

    def watch(epoch, _):
        recorded[epoch] = (
            None if trainer.supervision.centroids is None else trainer.supervision.centroids.detach().clone()
        )
        mislead(trainer, epoch)

    trainer = make_trainer(watch=watch, learning_rate=0.05, objective={"warmup": 0, "ramp": 0})
    result = trainer.run()
    assert torch.equal(trainer.supervision.centroids, recorded[result.best_epoch])
    assert not torch.equal(trainer.supervision.centroids, recorded[30])
    assert student_t(torch.zeros(1, 8), trainer.supervision.centroids).shape == (1, 3)


def test_no_centroids_when_the_best_epoch_is_in_the_warm_up(make_trainer, planted):
    trainer = make_trainer(objective={"warmup": 10, "ramp": 0}, epochs=14)
    observe = trainer.stopping.observe

    def only_the_fourth(epoch, logits):
        found = observe(epoch, logits)
        trainer.stopping.best_epoch = 4 if epoch >= 4 else epoch
        return found

    trainer.stopping.observe = only_the_fourth
    result = trainer.run()
    assert result.best_epoch == 4
    assert "kl" in result.history.columns
    assert trainer.supervision.centroids is None


def test_without_validation_the_last_weights_stay(make_trainer):
    recorded = {}
    trainer = make_trainer(
        validation=False, watch=lambda epoch, _: recorded.update({epoch: weights(trainer)}), epochs=12
    )
    result = trainer.run()
    assert result.best_epoch == 12
    assert same(weights(trainer), recorded[12])
    assert result.termination == "all epochs done"


def test_reasons_to_end(make_trainer):
    assert make_trainer(patience=2, epochs=200).run().termination == "no gain in validation accuracy"
    assert make_trainer(validation=False, patience=5, epochs=400).run().termination == "predictions are stable"
    assert make_trainer(epochs=2).run().termination == "all epochs done"


def test_one_seed_one_result(make_trainer):
    before = torch.get_rng_state()
    first, second, other = make_trainer(), make_trainer(), make_trainer(seed=5)
    for trainer in (first, second, other):
        trainer.run()
    assert torch.equal(torch.get_rng_state(), before)
    assert same(weights(first), weights(second))
    assert not same(weights(first), weights(other))
    np.testing.assert_array_equal(first.history["total"], second.history["total"])


# ---------------------------------------------------------------- the schedule


def test_parts_begin_after_the_warm_up(make_trainer):
    history = make_trainer(epochs=12).run().history
    assert np.isfinite(history["class"]).all()
    for part in ("kl", "pl", "marginal_error"):
        np.testing.assert_array_equal(np.isfinite(history[part]), np.arange(1, 13) > 3)
    share = np.clip((np.arange(12) - 3 + 1) / 4, 0, 1)
    expected = history["class"] + np.where(share > 0, share * (history["kl"] + history["pl"]), 0)
    np.testing.assert_allclose(history["total"], np.where(share > 0, expected, history["class"]), rtol=1e-5)


def test_the_total_falls(make_trainer):
    history = make_trainer(objective={"kl_weight": 0.0, "pl_weight": 0.0}, network={"dropout": 0.0}).run().history
    assert history["total"][-1] < 0.2 * history["total"][0]


@pytest.mark.parametrize("source", ["clean", "training"])
def test_pseudo_labels_come_from_the_source_asked_for(make_trainer, source):
    trainer = make_trainer(pseudo_label_source=source, epochs=6, objective={"warmup": 2, "ramp": 0})
    seen = []
    targets = trainer.objective.targets
    observe = trainer.stopping.observe
    clean = []
    trainer.stopping.observe = lambda epoch, logits: (clean.append(logits.clone()), observe(epoch, logits))[1]
    trainer.objective.targets = lambda logits: (seen.append(logits.detach().clone()), targets(logits))[1]
    trainer.run()
    assert len(seen) == 4
    matches = [
        torch.equal(a, b) for a, b in zip(seen, clean[1:], strict=False)
    ]  # epoch e uses the evaluation pass of e−1
    assert all(matches) if source == "clean" else not any(matches)


def test_decay_on_the_first_layer_leaves_the_others_alone(make_trainer):
    """With no gradient to speak of but decay's, only the first layer shrinks."""
    for decay_on, shrinks in (("all", True), ("first", False)):
        trainer = make_trainer(decay_on=decay_on, weight_decay=1e6, learning_rate=1e-3, epochs=5, objective={})
        before = weights(trainer)
        trainer.stopping.observe = lambda epoch, logits, t=trainer: setattr(t.stopping, "best_epoch", epoch) or {}
        trainer.run()
        after = weights(trainer)
        # Adam normalises: under pure decay every weight steps by the rate toward zero, five times 1e-3
        step = {name: ((before[name] - after[name]) * before[name].sign()) for name in before}
        large = {name: before[name].abs() > 0.02 for name in before}
        assert step["convs.0.weight"][large["convs.0.weight"]] == pytest.approx(0.005, rel=0.01)
        pulled = step["prototypes"][large["prototypes"]]
        assert (pulled == pytest.approx(0.005, rel=0.01)) == shrinks


# ---------------------------------------------------------------- when it goes wrong


def finite(trainer):
    return all(torch.isfinite(value).all() for value in trainer.network.state_dict().values())


def test_a_loss_that_is_not_finite_ends_and_keeps_the_best(make_trainer):
    recorded = {}

    def watch(epoch, _):
        recorded[epoch] = weights(trainer)
        if epoch == 6:
            with torch.no_grad():
                trainer.network.prototypes.fill_(float("inf"))

    trainer = make_trainer(watch=watch)
    result = trainer.run()
    assert result.termination == "the loss was not finite in epoch 7"
    assert len(result.history) == 6
    assert finite(trainer)
    assert same(weights(trainer), recorded[result.best_epoch])


@pytest.mark.parametrize("validation", [True, False])
def test_a_step_too_large_is_not_kept(make_trainer, validation):
    """A finite loss whose step makes the weights useless: the rule that keeps the last epoch must not keep that one."""
    recorded = {}

    def watch(epoch, _):
        recorded[epoch] = weights(trainer)
        if epoch == 4:
            for group in trainer.optimizer.param_groups:
                group["lr"] = 1e30

    trainer = make_trainer(validation=validation, watch=watch, network={"norm": None})
    result = trainer.run()
    assert result.termination == "the loss was not finite in epoch 5"
    assert result.best_epoch <= 4
    assert same(weights(trainer), recorded[result.best_epoch])
    with torch.no_grad():
        assert torch.isfinite(trainer.network(trainer.operators).logits).all()


@pytest.mark.parametrize("options", [{"learning_rate": 1e30, "network": {"norm": None}}, {}], ids=["step", "weights"])
def test_nothing_finite_at_all_is_an_error(make_trainer, options):
    trainer = make_trainer(**options)
    if not options:
        with torch.no_grad():
            trainer.network.prototypes.fill_(float("nan"))
    with pytest.raises(
        TrainingError, match=r"not finite in the very first epoch; normalise the features .* learning rate"
    ):
        trainer.run()


def test_ctrl_c_keeps_the_best_so_far(make_trainer):
    recorded = {}

    def watch(epoch, _):
        recorded[epoch] = weights(trainer)
        if epoch == 5:
            raise KeyboardInterrupt

    trainer = make_trainer(watch=watch)
    result = trainer.run()
    assert result.termination == "interrupted"
    assert len(result.history) == 5
    assert 1 <= result.best_epoch <= 5
    assert same(weights(trainer), recorded[result.best_epoch])


def test_other_errors_of_the_watcher_are_not_swallowed(make_trainer):
    def watch(epoch, _):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make_trainer(watch=watch).run()


def test_the_watcher_sees_what_the_history_holds(make_trainer):
    seen = []
    trainer = make_trainer(epochs=8, watch=lambda epoch, quantities: seen.append({"epoch": epoch} | quantities))
    trainer.run()
    assert seen == trainer.history.rows


def step_sizes(trainer):
    seen = []
    trainer.watch = lambda epoch, _: seen.append(trainer.optimizer.param_groups[0]["lr"])
    trainer.run()
    return np.array(seen)


def test_the_step_size_falls_as_a_cosine_all_along_or_in_the_last_third(make_trainer):
    constant, cosine, late = (
        step_sizes(make_trainer(schedule=name, learning_rate=0.02)) for name in ("constant", "cosine", "late")
    )
    assert (constant == 0.02).all()
    np.testing.assert_allclose(cosine, 0.01 * (1 + np.cos(np.pi * np.arange(30) / 30)))
    assert (late[:21] == 0.02).all()
    np.testing.assert_allclose(late[20:], 0.01 * (1 + np.cos(np.pi * np.arange(10) / 10)))


def test_centroids_that_come_later_fall_with_the_rest(make_trainer):
    trainer = make_trainer(schedule="late", learning_rate=0.02)
    trainer.run()
    rates = {group["lr"] for group in trainer.optimizer.param_groups}
    assert len(trainer.optimizer.param_groups) == 2
    assert len(rates) == 1
