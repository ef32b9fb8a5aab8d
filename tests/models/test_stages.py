"""Several descents told as one."""

from ncgc.models.stages import interrupted, joined, later
from ncgc.training import History, TrainingResult


def descended(epochs, best, termination="all epochs done"):
    history = History()
    for epoch in range(1, epochs + 1):
        history.append(epoch=epoch, total=float(epoch), seconds=0.5 * epoch)
    return TrainingResult(history, best, termination, 0.5 * epochs)


def test_epochs_and_seconds_are_counted_through():
    whole = joined([descended(3, 2), descended(2, 1, "no gain")])
    assert whole.history["epoch"].tolist() == [1, 2, 3, 4, 5]
    assert whole.history["stage"].tolist() == [1, 1, 1, 2, 2]
    assert whole.history["seconds"].tolist() == [0.5, 1.0, 1.5, 2.0, 2.5]
    assert (whole.best_epoch, whole.termination, whole.seconds) == (4, "no gain", 2.5)


def test_watchers_count_on():
    seen = []
    watch = later(lambda epoch, quantities: seen.append((epoch, quantities)), [descended(3, 2)])
    watch(1, {"total": 1.0})
    assert seen == [(4, {"total": 1.0})]
    assert later(None, []) is None


def test_interruption_is_that_of_the_latest():
    assert interrupted([descended(3, 2, "interrupted")])
    assert not interrupted([descended(3, 2)])
    assert not interrupted([])
