"""Which epoch each rule keeps and when it stops, on logits made by hand."""

import inspect

import pytest
import torch

from ncgc.errors import ParameterError
from ncgc.training import BestValidation, KeepEpoch, LastEpoch, StablePredictions, Stationary

LABELS = torch.tensor([0, 1, 1])
INDEX = torch.tensor([5, 0, 3])


def logits(right, margin=1.0):
    """Six nodes, of whose three validation nodes ``right`` are predicted rightly, each by ``margin``."""
    result = torch.zeros(6, 2)
    for place, (node, label) in enumerate(zip(INDEX.tolist(), LABELS.tolist(), strict=True)):
        result[node, label if place < right else 1 - label] = margin
    return result


def feed(stopping, sequence):
    """Observe until the rule stops; the epoch of the stop, or None."""
    for epoch, given in enumerate(sequence, start=1):
        stopping.observe(epoch, given)
        if stopping.stop(epoch):
            return epoch
    return None


def test_best_validation_reports_accuracy_and_cross_entropy():
    found = BestValidation(INDEX, LABELS, 10, 0).observe(1, logits(2, margin=1.5))
    wrong, right = torch.tensor(1.5).exp().add(1).log(), torch.tensor(-1.5).exp().add(1).log()
    assert found["val_accuracy"] == pytest.approx(2 / 3)
    assert found["val_loss"] == pytest.approx(float(2 * right + wrong) / 3, rel=1e-6)


def test_best_validation_keeps_the_highest_accuracy_whatever_the_loss():
    rule = BestValidation(INDEX, LABELS, 10, 0)
    feed(rule, [logits(2, 5.0), logits(3, 0.01), logits(2, 9.0), logits(1)])
    assert rule.best_epoch == 2


def test_ties_go_to_the_lower_loss_and_equals_to_the_first():
    rule = BestValidation(INDEX, LABELS, 10, 0)
    feed(rule, [logits(3, 1.0), logits(3, 2.0), logits(3, 2.0), logits(3, 1.5)])
    assert rule.best_epoch == 2


def test_a_model_that_is_always_wrong_still_keeps_an_epoch():
    rule = BestValidation(INDEX, LABELS, 10, 0)
    feed(rule, [logits(0)])
    assert rule.best_epoch == 1


@pytest.mark.parametrize(("settled", "stopped"), [(0, 5), (1, 5), (10, 13)])
def test_patience_counts_from_the_best_epoch_but_not_before_settled(settled, stopped):
    rule = BestValidation(INDEX, LABELS, patience=3, settled=settled)
    assert feed(rule, [logits(2), logits(3)] + [logits(1)] * 20) == stopped
    assert rule.best_epoch == 2


def test_a_gain_starts_the_patience_anew():
    rule = BestValidation(INDEX, LABELS, patience=3, settled=0)
    assert feed(rule, [logits(1), logits(0), logits(0), logits(2), logits(0), logits(0), logits(0)]) == 7


def test_only_validation_nodes_are_judged():
    first, second = logits(3), logits(3)
    second[[1, 2, 4]] = torch.tensor([-7.0, 7.0])
    rule = BestValidation(INDEX, LABELS, 10, 0)
    assert rule.observe(1, first) == rule.observe(2, second)


# ---------------------------------------------------------------- without labels


def predictions(*classes):
    return torch.nn.functional.one_hot(torch.tensor(classes), 3).float()


def test_stable_predictions_keep_the_last_epoch():
    rule = StablePredictions(patience=5, settled=0)
    for epoch in range(1, 4):
        rule.observe(epoch, predictions(0, 1, 2, 0))
        assert rule.best_epoch == epoch


@pytest.mark.parametrize(("patience", "settled"), [(1, 0), (3, 0), (3, 1), (3, 7), (4, 2)])
def test_a_still_model_stops_after_one_full_window(patience, settled):
    """The window is ``patience`` steps from an epoch that was seen, the first one at the earliest."""
    rule = StablePredictions(patience, settled)
    assert feed(rule, [predictions(0, 1, 2, 0)] * 40) == max(settled, 1) + patience


def test_a_model_that_moves_goes_on():
    rule = StablePredictions(patience=3, settled=0)
    moving = [predictions(*((i + (epoch + 2) // 3) % 3 for i in range(4))) for epoch in range(30)]
    assert feed(rule, moving) is None


def test_movement_before_settled_does_not_count():
    rule = StablePredictions(patience=3, settled=6)
    early = [predictions(epoch % 3, 1, 2, 0) for epoch in range(5)]
    assert feed(rule, early + [predictions(0, 1, 2, 0)] * 20) == 9


def test_there_and_back_within_a_window_is_stable():
    rule = StablePredictions(patience=4, settled=1)
    still, moved = predictions(0, 1, 2, 0), predictions(1, 2, 0, 1)
    assert feed(rule, [still, moved, moved, moved, still]) == 5


@pytest.mark.parametrize(("changed", "stops"), [(1, True), (2, False)])
def test_tolerance_is_a_share_of_all_nodes(changed, stops):
    before = torch.zeros(1000, dtype=torch.long)
    after = before.clone()
    after[:changed] = 1
    rule = StablePredictions(patience=2, settled=1)
    sequence = [torch.nn.functional.one_hot(x, 2).float() for x in (before, before, after)]
    assert (feed(rule, sequence) is not None) == stops
    assert rule.observe(4, sequence[0])["moved"] == pytest.approx(changed / 1000)


def test_stable_predictions_take_no_labels():
    assert set(inspect.signature(StablePredictions).parameters) == {"patience", "settled", "tolerance", "reduction"}
    assert set(inspect.signature(StablePredictions.observe).parameters) == {"self", "epoch", "logits"}


def three_classes(recalls, shares, loss=1.0):
    """Logits of 40 nodes: the first 30, ten a class, validate with these recalls; the rest is predicted by these shares."""
    result = torch.zeros(1030, 3)
    for label, right in enumerate(recalls):
        for place in range(10):
            result[10 * label + place, label if place < right else (label + 1) % 3] = 9 * loss
    start = 30
    for label, count in enumerate(shares):
        result[start : start + count, label] = 9 * loss
        start += count
    return result


BALANCED = torch.arange(3).repeat_interleave(10)


def test_validation_drawn_per_class_is_weighed_by_the_predicted_shares():
    """The second epoch is better on the class that most nodes have and worse in the plain mean."""
    first, second = three_classes((9, 9, 9), (900, 50, 50)), three_classes((10, 8, 8), (900, 50, 50))
    weighed = BestValidation(torch.arange(30), BALANCED, 10, 0, weigh=True)
    plain = BestValidation(torch.arange(30), BALANCED, 10, 0)
    feed(weighed, [first, second])
    feed(plain, [first, second])
    assert (weighed.best_epoch, plain.best_epoch) == (2, 1)


def test_an_epoch_that_has_collapsed_does_not_choose_its_own_weights():
    """All nodes in one class: its own shares would give it 100 %."""
    sound, collapsed = three_classes((8, 8, 8), (400, 300, 300)), three_classes((10, 0, 0), (1000, 0, 0))
    for order, best in (([sound, collapsed], 1), ([collapsed, sound], 2)):
        rule = BestValidation(torch.arange(30), BALANCED, 10, 0, weigh=True)
        feed(rule, order)
        assert rule.best_epoch == best


def test_validation_drawn_at_random_is_not_weighed():
    labels = torch.cat([BALANCED[:-1], torch.tensor([0])])
    rule = BestValidation(torch.arange(30), labels, 10, 0, weigh=True)
    found = rule.observe(1, three_classes((9, 9, 9), (900, 50, 50)))
    assert "val_weighted_accuracy" not in found


# ---------------------------------------------------------------- the warm-up


def right_of(count, total=100, loss=1.0):
    """Logits of ``total`` validation nodes of class 0, of which ``count`` are predicted rightly."""
    result = torch.zeros(total, 2)
    result[:count, 0] = result[count:, 1] = loss
    return result


def from_third(total=100):
    """A rule that prefers epochs from the third on."""
    return BestValidation(torch.arange(total), torch.zeros(total, dtype=torch.long), 100, 3, first=3)


@pytest.mark.parametrize(("early", "later", "best"), [(80, 76, 3), (80, 75, 2), (80, 80, 3), (80, 81, 3), (80, 40, 2)])
def test_an_epoch_of_the_warm_up_is_kept_only_if_clearly_better(early, later, best):
    """Of 100 nodes at 80 %, a standard error is 4."""
    rule = from_third()
    feed(rule, [right_of(50), right_of(early), right_of(later)])
    assert rule.best_epoch == best


@pytest.mark.parametrize(("total", "best"), [(100, 3), (10_000, 2)])
def test_a_standard_error_is_smaller_with_more_nodes(total, best):
    rule = from_third(total)
    feed(rule, [right_of(0, total), right_of(80 * total // 100, total), right_of(77 * total // 100, total)])
    assert rule.best_epoch == best


def test_after_the_warm_up_the_best_is_kept_as_ever():
    """A later epoch has to be better than the one in hand, not than the warm-up's."""
    rule = from_third()
    feed(rule, [right_of(50), right_of(80), right_of(77), right_of(76), right_of(78), right_of(78, loss=0.5)])
    assert rule.best_epoch == 5


def test_a_clear_loss_may_be_made_good_later():
    rule = from_third()
    feed(rule, [right_of(50), right_of(80), right_of(60), right_of(70), right_of(77)])
    assert rule.best_epoch == 5


def test_within_the_warm_up_the_best_is_kept_as_ever():
    rule = from_third()
    feed(rule, [right_of(80), right_of(79)])
    assert rule.best_epoch == 1


def test_without_first_a_point_is_enough():
    rule = BestValidation(torch.arange(100), torch.zeros(100, dtype=torch.long), 100, 3)
    feed(rule, [right_of(50), right_of(80), right_of(79)])
    assert rule.best_epoch == 2


def test_the_warm_up_of_weighed_validation():
    """Ten nodes a class at 90 %: a standard error of 30 nodes is 5.5 points."""
    for recalls, best in (((9, 9, 8), 2), ((9, 8, 7), 1)):
        rule = BestValidation(torch.arange(30), BALANCED, 10, 0, weigh=True, first=2)
        feed(rule, [three_classes((9, 9, 9), (400, 300, 300)), three_classes(recalls, (400, 300, 300))])
        assert rule.best_epoch == best


# ---------------------------------------------------------------- several processes


@pytest.mark.parametrize("weigh", [False, True])
def test_rules_over_some_of_the_nodes_are_those_over_all(in_shares, weigh):
    n, k = 60, 4
    owned = (torch.arange(0, n, 2), torch.arange(1, n, 2), torch.tensor([], dtype=torch.long))
    outputs = [torch.randn(n, k, generator=torch.Generator().manual_seed(seed)) for seed in range(5)]
    val, labels = torch.arange(20, 40), torch.arange(20) % k

    def observed(rule, rows):
        return [
            (rule.observe(epoch, given[rows]), rule.best_epoch, rule.stop(epoch))
            for epoch, given in enumerate(outputs, 1)
        ]

    def part(reduction, rows):
        place = torch.full((n,), -1)
        place[rows] = torch.arange(len(rows))
        mine = place[val] >= 0
        best = BestValidation(place[val][mine], labels[mine], 3, 0, weigh, 2, reduction)
        return observed(best, rows), observed(StablePredictions(2, 1, reduction=reduction), rows)

    expected = (
        observed(BestValidation(val, labels, 3, 0, weigh, 2), torch.arange(n)),
        observed(StablePredictions(2, 1), torch.arange(n)),
    )
    for found in in_shares(part, owned):
        for rule, oracle in zip(found, expected, strict=True):
            for (quantities, best, stop), (oracle_quantities, oracle_best, oracle_stop) in zip(
                rule, oracle, strict=True
            ):
                assert quantities == pytest.approx(oracle_quantities, rel=1e-5)
                assert (best, stop) == (oracle_best, oracle_stop)


# ---------------------------------------------------------------- the rules of other papers

FOUR, FIRST_CLASS = torch.arange(4), torch.zeros(4, dtype=torch.int64)


def four_logits(right: int, margin: float) -> torch.Tensor:
    """Four nodes of class 0, so many of them right, each by so much: accuracy right/4, loss falls with the margin if all are right."""
    scores = torch.zeros(4, 2)
    scores[:right, 0], scores[right:, 1] = margin, margin
    return scores


def kept(rule, epochs, **options):
    """The epoch kept, and the one it stopped after (None: it did not)."""
    stopping = KeepEpoch(rule, FOUR, FIRST_CLASS, **options)
    for number, (right, margin) in enumerate(epochs, start=1):
        stopping.observe(number, four_logits(right, margin))
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
    found = KeepEpoch("loss", FOUR[:2], FIRST_CLASS[:2]).observe(1, four_logits(1, 2.0))
    assert found["val_accuracy"] == 0.5
    expected = torch.nn.functional.cross_entropy(four_logits(1, 2.0)[:2], FIRST_CLASS[:2]).item()
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


def test_the_last_epoch_evaluates_nothing():
    stopping = LastEpoch()
    assert stopping.keeps_last
    assert not stopping.evaluates(3)
    assert stopping.observe(3, torch.zeros(0)) == {}
    assert stopping.best_epoch == 3
    assert stopping.stop(10**9) is None


def test_an_unknown_rule_is_a_sentence():
    with pytest.raises(ParameterError, match="must be one of last, loss"):
        KeepEpoch("best", FOUR, FIRST_CLASS)


def stationary(evaluations, window=2, **options):
    """The epoch at which it stops, for the classes of ten nodes at each evaluation; all of class 0, the first four are trained on."""
    stopping = Stationary(FOUR, FIRST_CLASS, window, **options)
    for number, wrong in enumerate(evaluations, start=1):
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
    """Nothing else moves and then a lot: training labels are still being learnt, one more at each evaluation."""
    assert stationary([{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 4, 5}, {0, 6, 7, 8}]) is None
    assert stationary([{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2, 4}]) == 6
