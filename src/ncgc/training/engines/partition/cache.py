"""Cache: what was costly to make, kept while there is room for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar


class Sized(Protocol):
    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""


Kept = TypeVar("Kept", bound=Sized)


class Cache:
    """Keeps the first things that fit into so many bytes; the others are made anew whenever they are asked for.

    Parts are asked for in another order every epoch, and each of them once: what was asked for last is no guide to what is next,
    so nothing is ever taken off to make room.
    """

    def __init__(self, room: int):
        self.room = room
        self._kept: dict[int, Sized] = {}

    def get(self, number: int, make: Callable[[], Kept]) -> Kept:
        """What stands under a number, or what ``make`` makes, put there if it fits."""
        if number in self._kept:
            return self._kept[number]  # type: ignore[return-value]
        made = make()
        if made.nbytes <= self.room:
            self.room -= made.nbytes
            self._kept[number] = made
        return made

    def __len__(self) -> int:
        return len(self._kept)
