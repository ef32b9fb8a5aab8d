"""The two rules, on logits made by hand."""

import inspect

import pytest
import torch

from ncgc.training import BestValidation, StablePredictions

LABELS = torch.tensor([0, 1, 1])
INDEX = torch.tensor([5, 0, 3])


def logits(right, margin=1.0):
    """Six nodes, of whose three validation nodes ``right`` are predicted rightly, each by ``margin``."""
    result = torch.zeros(6, 2)
    for place, (node, label) in enumerate(zip(INDEX.tolist(), LABELS.tolist(), strict=True)):
        result[node, label if place < right else 1 - label] = margin
    return result


def feed(stopping, sequence):
    """Observe until told to stop; the epoch of the stop, or None."""
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
