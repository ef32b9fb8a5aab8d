"""Parts that fit into the cache are kept, the others made anew."""

from dataclasses import dataclass

from ncgc.training.engines.partition.part_operators import Cache


@dataclass
class Thing:
    nbytes: int


def test_what_fits_is_made_once_and_what_does_not_every_time():
    cache, made = Cache(room=10), []

    def make(number, size):
        def new():
            made.append(number)
            return Thing(size)

        return cache.get(number, new)

    first = make(1, 6)
    make(2, 5)  # no room beside the first
    make(3, 4)
    assert make(1, 6) is first
    make(2, 5)
    make(3, 4)
    assert made == [1, 2, 3, 2]
    assert len(cache) == 2
