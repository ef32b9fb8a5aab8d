"""Keeping freed memory: the allocator is set on entering and restored on leaving, whatever happens inside."""

import sys

import pytest

from ncgc.ops import kept_memory


@pytest.fixture
def calls(monkeypatch):
    made = []

    class Allocator:
        def mallopt(self, name, value):
            made.append((name, value))

        def malloc_trim(self, pad):
            made.append("trim")

    monkeypatch.setattr(sys.modules["ncgc.ops.memory"], "_allocator", lambda: Allocator())
    return made


def test_thresholds_are_lifted_once_and_put_back(calls):
    with kept_memory():
        lifted = list(calls)
        with kept_memory():
            assert calls == lifted
        assert calls == lifted
    assert [name for name, _ in lifted] == [-3, -1]
    assert min(value for _, value in lifted) > 2**30
    assert calls[2:] == [(-3, 32 * 2**20), (-1, 64 * 2**20), "trim"]


def test_an_error_inside_still_puts_them_back(calls):
    with pytest.raises(KeyError), kept_memory():
        raise KeyError
    assert calls[-1] == "trim"


def test_without_glibc_nothing_happens(monkeypatch):
    monkeypatch.setattr(sys.modules["ncgc.ops.memory"], "_allocator", lambda: None)
    with kept_memory():
        pass
