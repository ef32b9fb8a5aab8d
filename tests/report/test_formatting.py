"""Data inside a script element, numbers as people write them, and colours that everybody can distinguish."""

import json
import re
from itertools import combinations, pairwise

import numpy as np
import pytest

from ncgc.report.formatting import LONGEST, class_colours, duration, embedded_json, number, plural, printable, shortened


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


# what a protan, a deutan and a tritan see of linear sRGB (Machado, Oliveira & Fernandes, 2009, severity 1)
EYES = {
    "all": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_CONES = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
TO_LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099], [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip


def linear(colour: str) -> np.ndarray:
    shown = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    return TO_LAB @ np.cbrt(TO_CONES @ rgb.clip(0, 1))


def contrast(one: str, other: str) -> float:
    light = sorted(0.05 + linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return light[1] / light[0]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("eye", "least"), [("all", 0.155), ("protan", 0.09), ("deutan", 0.09), ("tritan", 0.09)])
def test_twelve_classes_are_told_apart_by_every_eye(dark, eye, least):
    seen = [oklab(EYES[eye] @ linear(colour)) for colour in class_colours(12, dark)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) >= least


@pytest.mark.parametrize(("dark", "page", "least"), [(False, "#ffffff", 1.5), (True, "#171b22", 2.5)])
@pytest.mark.parametrize("count", [12, 200])
def test_colours_show_on_their_page(dark, page, least, count):
    assert min(contrast(colour, page) for colour in class_colours(count, dark)) >= least


def test_many_classes_have_colours_of_their_own():
    colours = class_colours(300)
    assert len(set(colours)) == 300
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)
    seen = [oklab(linear(colour)) for colour in colours]
    assert min(np.linalg.norm(a - b) for a, b in pairwise(seen)) > 0.1  # neighbours in the legend
