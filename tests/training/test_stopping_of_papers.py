"""Which epoch each rule keeps and when it stops, on accuracies and losses written by hand."""

import pytest
import torch

from ncgc.errors import ParameterError
from ncgc.training import KeepEpoch, LastEpoch, Stationary

INDEX, LABELS = torch.arange(4), torch.zeros(4, dtype=torch.int64)


def logits(right: int, margin: float) -> torch.Tensor:
    """Four nodes of class 0, so many of them right, each by so much: accuracy right/4, loss falls with the margin if all are right."""
    scores = torch.zeros(4, 2)
    scores[:right, 0], scores[right:, 1] = margin, margin
    return scores


def kept(rule, epochs, **options):
    """The epoch kept, and the one it stopped after (None: it did not)."""
    stopping = KeepEpoch(rule, INDEX, LABELS, **options)
    for number, (right, margin) in enumerate(epochs, start=1):
        stopping.observe(number, logits(right, margin))
        if stopping.stop(number) is not None:
            return stopping.best_epoch, number
    return stopping.best_epoch, None


# accuracies 1/2, 3/4, 3/4, 1/2; losses 0.81, 0.90, 0.79, 0.69
EPOCHS = [(2, 1.0), (3, 3.5), (3, 3.0), (2, 0.1)]


@pytest.mark.parametrize(("rule", "best"), [("last", 4), ("accuracy", 2), ("latest", 3), ("loss", 4), ("ranked", 3)])
def test_each_rule_keeps_its_own_epoch(rule, best):
    assert kept(rule, EPOCHS) == (best, None)


def test_both_wants_accuracy_and_loss_at_their_best():
    # the second is more accurate at a higher loss, the third as accurate at the lowest loss of all
    assert kept("both", [(2, 0.1), (3, 4.0), (3, 0.9)]) == (3, None)


def test_quantities_are_those_of_the_validation_nodes():
    found = KeepEpoch("loss", INDEX[:2], LABELS[:2]).observe(1, logits(1, 2.0))
    assert found["val_accuracy"] == 0.5
    expected = torch.nn.functional.cross_entropy(logits(1, 2.0)[:2], LABELS[:2]).item()
    assert found["val_loss"] == pytest.approx(expected)


def test_patience_counts_from_the_kept_epoch():
    falling = [(4, 2.0), (4, 1.0), (4, 0.5), (4, 0.4)]
    assert kept("loss", falling, patience=2) == (1, 3)
    assert kept("loss", [(4, 1.0), (4, 2.0), (4, 1.5), (4, 3.0), (4, 1.0)], patience=2) == (4, None)


def test_either_accuracy_or_loss_resets_patience():
    # the loss is never below that of epoch 1, but accuracy rises
    epochs = [(2, 0.1), (3, 8.0), (2, 8.0), (2, 8.0)]
    assert kept("loss", epochs, patience=2) == (1, 3)
    assert kept("loss", epochs, patience=2, either=True) == (1, 4)


def test_window_stops_when_the_loss_rises_above_the_mean_before():
    epochs = [(4, 1.0), (4, 2.0), (4, 3.0), (4, 0.5), (4, 4.0)]
    assert kept("last", epochs, window=2) == (4, 4)
    assert kept("last", epochs, window=2, window_after=4) == (5, None)


def test_the_last_epoch_looks_at_nothing():
    stopping = LastEpoch()
    assert stopping.keeps_last
    assert stopping.observe(3, torch.zeros(0)) == {}
    assert stopping.best_epoch == 3
    assert stopping.stop(10**9) is None


def test_an_unknown_rule_is_a_sentence():
    with pytest.raises(ParameterError, match="must be one of last, loss"):
        KeepEpoch("best", INDEX, LABELS)


def stationary(looks, window=2, **options):
    """The epoch at which it stops, for the classes of ten nodes at each look; all of class 0, the first four are trained on."""
    stopping = Stationary(INDEX, LABELS, window, **options)
    for number, wrong in enumerate(looks, start=1):
        classes = torch.zeros(10, dtype=torch.int64)
        classes[list(wrong)] = 1
        for epoch in range((number - 1) * window + 1, number * window):
            assert not stopping.evaluates(epoch)
            stopping.observe(epoch, torch.zeros(0))
            assert stopping.stop(epoch) is None
        epoch = number * window
        assert stopping.evaluates(epoch)
        stopping.observe(epoch, torch.nn.functional.one_hot(classes, 2).float())
        assert stopping.best_epoch == epoch
        if stopping.stop(epoch) is not None:
            return epoch
    return None


def test_stationary_goes_on_while_fewer_and_fewer_nodes_move():
    assert stationary([{4, 5, 6, 7}, {8}, {8, 9, 4}, {8, 9}, {8, 9}]) == 10  # 5, 2, 1 and then none
    assert stationary([{4, 5, 6, 7}, {8}, {8, 9, 4}, {8, 9}]) is None


def test_stationary_stops_when_as_many_nodes_move_as_before():
    assert stationary([{4}, {5, 6}, {7}, {8, 9}, {4}]) == 6  # three nodes move, and three again


def test_stationary_stops_when_nothing_moves():
    assert stationary([{4}, {4}, {4}]) == 4


def test_stationary_waits_while_more_training_labels_come_out_right():
    """Nothing else moves and then a lot: training labels are still being learnt, one more at each look."""
    assert stationary([{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 4, 5}, {0, 6, 7, 8}]) is None
    assert stationary([{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2, 4}]) == 6
