"""Averaged weights and averaged predictions against their formulas, step by step."""

import pytest
import torch
from torch import nn

from ncgc.training import Trainer
from ncgc.training.averaging import PredictionAverage, WeightAverage


def test_the_average_follows_its_formula():
    layer = nn.Linear(3, 2)
    average = WeightAverage(layer, 0.6)
    expected = layer.weight.detach().clone()
    generator = torch.Generator().manual_seed(0)
    for step in range(1, 40):
        with torch.no_grad():
            layer.weight.copy_(torch.randn(2, 3, generator=generator))
        average.update()
        decay = min(0.6, step / (step + 9))
        expected = decay * expected + (1 - decay) * layer.weight.detach()
        torch.testing.assert_close(average.weights["weight"], expected)
    x = torch.ones(1, 3)
    own, latest = layer(x), layer.weight.detach().clone()
    with average.in_network():
        averaged = layer(x)
    torch.testing.assert_close(averaged, x @ expected.t() + average.weights["bias"])
    assert not torch.equal(averaged, own)
    assert torch.equal(layer.weight, latest)  # the network has its own weights again


def test_buffers_are_the_networks_own():
    norm = nn.BatchNorm1d(2)
    average = WeightAverage(norm, 0.9)
    norm(torch.tensor([[1.0, 2.0], [3.0, 8.0]]))
    assert torch.equal(average.state_dict()["running_mean"], norm.running_mean)


@pytest.mark.parametrize("source", ["clean", "training"])
def test_what_is_judged_and_kept_is_the_average(make_trainer, planted, source):
    graph, split = planted
    trainer = make_trainer(averaging=0.8, pseudo_label_source=source, learning_rate=0.05)
    result = trainer.run()
    with torch.no_grad():
        predicted = trainer.network(trainer.operators).logits.argmax(dim=1).numpy()
    accuracy = (predicted[split.val] == graph.labels[split.val]).mean()
    assert accuracy == result.history.at(result.best_epoch)["val_accuracy"]


def test_no_averaging_is_the_weights_themselves(make_trainer):
    plain, averaged = make_trainer().run(), make_trainer(averaging=0.9).run()
    assert plain.history["val_loss"][-1] != averaged.history["val_loss"][-1]
    # until pseudo-labels come from it, averaging changes what is evaluated and not how it is trained
    assert plain.history["class"][:4].tolist() == averaged.history["class"][:4].tolist()


# ---------------------------------------------------------------- predictions


def sequence(count, seed=0):
    return torch.randn(count, 5, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 3


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9, 0.99])
def test_as_a_loop_over_the_formula(memory):
    average, expected = PredictionAverage(memory), None
    for epochs, logits in enumerate(sequence(30)):
        now = logits.softmax(dim=1)
        kept = min(memory, epochs / (epochs + 9))
        expected = now if expected is None else kept * expected + (1 - kept) * now
        torch.testing.assert_close(average.update(logits), expected.log())


def test_rows_stay_probabilities():
    average = PredictionAverage(0.9)
    for logits in sequence(20):
        torch.testing.assert_close(average.update(logits).exp().sum(dim=1), torch.ones(5, dtype=torch.float64))


def test_no_memory_is_the_latest_epoch():
    average = PredictionAverage(0.0)
    for logits in sequence(5):
        torch.testing.assert_close(average.update(logits), logits.log_softmax(dim=1))


def test_one_bad_epoch_does_not_turn_the_labels():
    good, bad = torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 2.0]])
    average = PredictionAverage(0.9)
    for _ in range(20):
        average.update(good)
    assert average.update(bad).argmax() == 0
    for _ in range(20):
        latest = average.update(bad)
    assert latest.argmax() == 1  # but it does not hold on for ever


def test_certainty_has_finite_logarithms():
    assert torch.isfinite(PredictionAverage(0.9).update(torch.tensor([[1e4, -1e4]]))).all()


def test_what_was_returned_is_not_changed_later():
    average = PredictionAverage(0.9)
    first = average.update(sequence(1)[0])
    kept = first.clone()
    average.update(sequence(1, seed=1)[0])
    torch.testing.assert_close(first, kept, rtol=0, atol=0)


def test_no_gradient_goes_through_it():
    logits = torch.randn(4, 2, requires_grad=True)
    assert not PredictionAverage(0.9).update(logits).requires_grad


def test_a_trainer_learns_from_the_average(make_trainer, monkeypatch):
    """With the teacher pseudo-labels come from it, without it from the latest logits."""
    updates = []
    update = PredictionAverage.update
    monkeypatch.setattr(PredictionAverage, "update", lambda self, logits: updates.append(1) or update(self, logits))
    plain = make_trainer(epochs=10, teacher=0.0)
    taught = make_trainer(epochs=10, teacher=0.9)
    assert isinstance(plain, Trainer)
    plain.run()
    assert not updates
    taught.run()
    assert len(updates) >= 9
    assert plain.history["pl"][-1] != taught.history["pl"][-1]
