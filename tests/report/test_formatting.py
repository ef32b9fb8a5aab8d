"""Data inside a script element, and numbers as people write them."""

import json

import pytest

from ncgc.report.formatting import LONGEST, duration, embedded_json, number, plural, printable, shortened


def test_embedded_json_reads_back_and_cannot_end_its_element(hostile):
    text = embedded_json(hostile)
    assert json.loads(text) == hostile
    assert not set("<>&\u2028\u2029\ud800") & set(text)
    text.encode()  # half a surrogate pair is escaped too


def test_embedded_json_refuses_what_javascript_cannot_read():
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded_json(float("nan"))


def test_printable_can_always_be_written(hostile):
    for name in hostile:
        printable(name).encode()
        assert "\x00" not in printable(name)
    assert printable("tab\tand\nline") == "tab\tand\nline"


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0"), (0.0, "0"), (999.4, "999"), (999.5, "1,000"), (1234.5, "1,234"), (None, "none"), (float("inf"), "inf")],
)
def test_number(value, words):
    assert number(value) == words


def test_shortened_keeps_what_is_short_enough():
    assert shortened("x" * LONGEST) == "x" * LONGEST
    assert len(shortened("x" * (LONGEST + 1))) == LONGEST
    assert shortened(17) == "17"


def test_duration_and_plural():
    assert duration(59.96) == "60.0 s"
    assert duration(3599.6) == "1 h 0 min"
    assert plural(0, "node") == "0 nodes"
