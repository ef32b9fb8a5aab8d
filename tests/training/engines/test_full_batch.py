"""Descent on a network of one number, whose every step is known."""

import pytest
import torch
from torch import nn

from ncgc.errors import TrainingError
from ncgc.training import KeepEpoch, LastEpoch, Stationary
from ncgc.training.engines.full_batch import train_full_batch


class Number(nn.Module):
    def __init__(self, start: float):
        super().__init__()
        self.x = nn.Parameter(torch.tensor(start))


def run(start=4.0, epochs=5, stopping=None, loss=None, evaluate=None, watch=None):
    network = Number(start)
    optimizer = torch.optim.SGD(network.parameters(), lr=1.0)
    square = lambda epoch: 0.25 * network.x**2  # noqa: E731  halves x each step
    seen = evaluate or (lambda: torch.stack([network.x.detach(), torch.tensor(0.0)]).repeat(2, 1))
    ended = train_full_batch(
        network, optimizer, loss(network) if loss else square, seen, stopping or LastEpoch(), epochs, watch
    )
    return network, ended


def test_the_last_weights_are_kept_without_an_evaluation_pass():
    def evaluate():
        raise AssertionError("the rule evaluates nothing")

    network, ended = run(evaluate=evaluate)
    assert network.x.item() == 4.0 / 2**5
    assert (ended.best_epoch, ended.termination, len(ended.history)) == (5, "all epochs done", 5)
    assert not network.training


def test_a_rule_without_labels_evaluates_once_a_window_and_averages_the_last_weights():
    network, evaluated = Number(4.0), []

    def evaluate():
        evaluated.append(network.x.item())
        return torch.tensor([[1.0, 0.0], [0.0, 1.0]])

    stopping = Stationary(torch.tensor([0]), torch.tensor([0]), window=3)
    optimizer = torch.optim.SGD(network.parameters(), lr=1.0)
    ended = train_full_batch(network, optimizer, lambda epoch: 0.25 * network.x**2, evaluate, stopping, 20)
    average, averages = 4.0, []
    for step in range(1, 7):
        memory = min(1 / 3, step / (step + 9))
        average = memory * average + (1 - memory) * 4.0 / 2**step
        averages.append(average)
    assert evaluated == pytest.approx([averages[2], averages[5]])  # after epochs 3 and 6, when nothing moved
    assert network.x.item() == pytest.approx(averages[5])
    assert (ended.best_epoch, len(ended.history)) == (6, 6)
    assert ended.termination == "predictions wander and settle no further"
    assert ended.history["moved"].tolist()[-1] == 0.0


def test_the_best_weights_come_back():
    # class 1 is true: the loss falls as x does, until x is made to jump
    stopping = KeepEpoch("loss", torch.arange(2), torch.tensor([1, 1]))

    def loss(network):
        return lambda epoch: 0.25 * network.x**2 if epoch < 4 else -9.0 * network.x

    network, ended = run(stopping=stopping, loss=loss)
    assert ended.best_epoch == 3
    assert network.x.item() == 0.5
    assert ended.history["val_loss"].argmin() == 2


def test_parts_are_summed_and_reported():
    seen = []

    def loss(network):
        return lambda epoch: {"one": 0.25 * network.x**2, "two": torch.tensor(1.0)}

    network, ended = run(loss=loss, epochs=2, watch=lambda epoch, quantities: seen.append((epoch, quantities)))
    assert network.x.item() == 1.0
    assert ended.history["total"].tolist() == [5.0, 2.0]
    assert seen[1][0] == 2
    assert seen[1][1]["one"] == 1.0


def test_it_stops_when_the_stopping_rule_ends_it():
    stopping = KeepEpoch("loss", torch.arange(2), torch.tensor([0, 0]), patience=2)
    _, ended = run(stopping=stopping, epochs=50)  # class 0 gets less and less likely
    assert (ended.best_epoch, len(ended.history)) == (1, 3)
    assert ended.termination == "no gain on the validation nodes"


def test_a_loss_that_is_not_finite():
    def loss(network):
        return lambda epoch: network.x * (float("nan") if epoch == 3 else 1.0)

    stopping = KeepEpoch("last", torch.arange(2), torch.tensor([0, 0]))
    network, ended = run(loss=loss, stopping=stopping)
    assert ended.termination == "the loss was not finite in epoch 3"
    assert (ended.best_epoch, network.x.item()) == (2, 2.0)
    with pytest.raises(TrainingError, match="very first epoch"):
        run(loss=lambda network: lambda epoch: network.x * float("inf"))


def test_interruption_keeps_what_was_reached():
    def stop(epoch, quantities):
        if epoch == 2:
            raise KeyboardInterrupt

    network, ended = run(watch=stop)
    assert ended.termination == "interrupted"
    assert (ended.best_epoch, network.x.item()) == (2, 1.0)
