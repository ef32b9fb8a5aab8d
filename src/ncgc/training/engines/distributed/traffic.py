"""Traffic: how many bytes a process handed to the others, and in how many messages."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

WHOM = ("everybody", "neighbours", "first", "others")


@dataclass
class Traffic:
    """Bytes and messages by whom they are for. What the network below adds, and how often it passes them on, is not counted.

    Attributes:
        sent: bytes to "everybody" (sums, maxima, the first one's values: each counted once, as long as it is), to
            "neighbours" (rows of the halo), to the "first" process (rows gathered at the end) and by it to the "others"
            (their rows of the graph at the start).
        messages: how many there were.

    >>> import torch
    >>> traffic = Traffic()
    >>> traffic.add("everybody", torch.zeros(3, 3))
    >>> traffic.sent["everybody"], traffic.messages["everybody"], traffic.sent["neighbours"]
    (36, 1, 0)
    """

    sent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WHOM, 0))
    messages: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WHOM, 0))

    def add(self, whom: str, values: Tensor) -> None:
        self.sent[whom] += values.numel() * values.element_size()
        self.messages[whom] += 1

    def since(self, earlier: Traffic) -> Traffic:
        """What was sent after ``earlier`` was a :meth:`copy` of this."""
        return Traffic(
            {whom: number - earlier.sent[whom] for whom, number in self.sent.items()},
            {whom: number - earlier.messages[whom] for whom, number in self.messages.items()},
        )

    def copy(self) -> Traffic:
        return Traffic(dict(self.sent), dict(self.messages))
