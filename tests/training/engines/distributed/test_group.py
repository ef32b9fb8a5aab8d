"""Joining a group, and what its messages bring."""

import numpy as np
import pytest
import torch

from ncgc.errors import ParameterError, PeerError
from ncgc.training.engines.distributed.group import Group


def test_half_an_environment_is_a_sentence(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ParameterError, match="not RANK"):
        Group.join(1.0)


def test_nobody_else_there_is_a_sentence(monkeypatch):
    for name, value in {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(PeerError, match=r"Process 0 of 2 could not meet the others at 127\.0\.0\.1:0 within 1 s"):
        Group.join(1.0)


def test_gathering_puts_rows_where_they_belong(in_processes):
    def gather(group):
        return [rows.tolist() for rows in group.gathered(torch.arange(group.rank + 1))]

    assert in_processes(gather, 3) == [[[0], [0, 1], [0, 1, 2]], [], []]
    assert np.array_equal(Group().gathered(torch.ones(2))[0], np.ones(2))
