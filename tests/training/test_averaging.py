"""Averaged weights against the formula, step by step."""

import pytest
import torch
from torch import nn

from ncgc.training.averaging import WeightAverage


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
    torch.testing.assert_close(average(x), x @ expected.t() + average.weights["bias"])
    assert not torch.equal(average(x), layer(x))


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
    # until pseudo-labels come from it, averaging changes what is looked at and not how it is trained
    assert plain.history["class"][:4].tolist() == averaged.history["class"][:4].tolist()
