"""The page as a text: whole, quiet, and proof against its own data."""

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from ncgc.report import Candidate, Suggestion, render_report

ASSETS = {file.name: file.read_text(encoding="utf-8") for file in (files("ncgc.report") / "assets").iterdir()}


class Reader(HTMLParser):
    """Every element's name and attributes, and the text of scripts and styles."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[str] = []
        self.inside = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag in ("script", "style")
        if self.inside:
            self.raw.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.raw[-1] += data

    @property
    def payload(self):
        (text,) = [raw for raw in self.raw if raw.startswith("{")]
        return json.loads(text)


def shape(page: str) -> list[str]:
    return [tag for tag, _ in Reader(page).tags]


def test_no_word_of_the_data_becomes_markup(full_data, hostile):
    n = len(hostile)
    quiet = [f"name {i}" for i in range(n)]

    def page(names: list[str]) -> str:
        return render_report(
            full_data(
                n=n * 4,
                k=n,
                title=names[0],
                created=names[1],
                version=names[2],
                node_ids=[f"{i}{name}" for i in range(4) for name in names],
                classes=names,
                summary_rows=[(name, name) for name in names],
                notes=names,
                columns=[(name, name, 1) for name in names],
                history={"total": [1.0], **{name: [1.0] for name in names}},
                suggestions=[Suggestion(i, 1.0, name) for i, name in enumerate(names)],
                candidates=[Candidate(name, 0.5, 4, 1.0) for name in names],
                choice=names[0],
                settings={name: name for name in names},
                changed=names[:2],
                command=names[1],
            )
        )

    nasty = page(hostile)
    assert shape(nasty) == shape(page(quiet))
    nasty.encode()
    assert Reader(nasty).payload["classes"][:3] == hostile[:3]
    assert Reader(nasty).payload["map"]["ids"][0] == "0" + hostile[0]
    assert html.escape(hostile[0]) in nasty
    assert len(Reader(nasty).payload["map"]["ids"][4]) == 200  # a very long id is cut


def test_the_page_asks_nobody_for_anything(full_data):
    page = render_report(full_data())
    assert set(re.findall(r"https?:[^\"'\s;]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "//cdn" not in page
    for tag, attributes in Reader(page).tags:
        assert not {"src", "srcset", "action", "data", "poster"} & set(attributes), tag
        assert attributes.get("href", "data:,") == "data:,"
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(", page)


def test_the_policy_lets_run_what_the_page_brings_and_nothing_else(full_data):
    reader = Reader(render_report(full_data()))
    (policy,) = [a["content"] for tag, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"]
    style, first, _, program = reader.raw
    named = dict(part.split(" ", 1) for part in policy.split("; "))
    print_of = {
        text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        for text in reader.raw
    }
    assert named["default-src"] == "'none'"
    assert named["style-src"] == print_of[style]
    assert named["script-src"].split() == [print_of[first], print_of[program]]
    assert not any(name.startswith("on") or name == "style" for _, attributes in reader.tags for name in attributes)


@pytest.mark.parametrize("name", [name for name in ASSETS if name.endswith((".js", ".css"))])
def test_assets_stay_inside_their_element_and_write_no_markup(name):
    assert not re.search(
        r"</(script|style)|<!--|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", ASSETS[name]
    )


def test_every_asset_is_on_the_page(full_data):
    page = render_report(full_data())
    for name, text in ASSETS.items():
        if name.endswith((".js", ".css")):
            assert text.strip() in page, name


SECTIONS = {
    "map-title": {"embedding2d": None},
    "curves-title": {"history": {}},
    "reliability-title": {"reliability": None},
    "confusion-title": {"truth": None},
    "next-title": {"suggestions": ()},
    "read-title": {"notes": (), "columns": ()},
    "settings-title": {"settings": {}},
    "command": {"command": ""},
}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_without_data_is_left_out(full_data, section):
    def ids(page: str) -> set[str | None]:
        return {attributes.get("id") for _, attributes in Reader(page).tags}

    assert section in ids(render_report(full_data()))
    assert section not in ids(render_report(full_data(**SECTIONS[section])))


def test_the_least_there_can_be(make_data):
    page = render_report(make_data(n=1, k=1, embedding2d=None, given=np.array([0])))
    titles = re.findall(r"<h2[^>]*>([^<]*)</h2>", page)
    assert titles == ["Class shares", "How to repeat"]


def test_the_sections_come_in_their_order(full_data):
    titles = re.findall(r"<h2[^>]*>([^<]*)</h2>", render_report(full_data()))
    assert titles == [
        "Map", "Class shares", "Training", "Confidence", "Reliability", "Confusion",
        "Worth labelling next", "How the tables were read", "Settings", "How to repeat",
    ]  # fmt: skip


def test_sentences_say_what_was_found(full_data):
    page = html.unescape(render_report(full_data()))
    assert "54 of 60 nodes labelled from 6 labels; mean confidence 0." in page
    assert "clustering and pseudo-labels start at epoch 3. The dashed line is epoch 4," in re.sub(r"\s+", " ", page)
    assert (
        "For an accuracy of 95.0 %, labels with a confidence below 0.40 are left out: 0 nodes stay unlabelled." in page
    )
    assert "Measured on held-out labels." in page
    assert page.index("appnp") < page.index("2 settings at their default") < page.index("<dt>hidden</dt>")


def test_suggestions_point_at_the_map(full_data):
    page = render_report(full_data())
    assert re.findall(r'data-node="(\d+)"[^>]*>([^<]*)<', page) == [("59", "n59"), ("30", "n30")]
    assert "data-node=" not in render_report(full_data(embedding2d=None)).split("<script type")[0]


def large(make_data, n: int, **fields):
    generator = np.random.default_rng(0)
    return make_data(
        n=n,
        k=20,
        embedding2d=generator.normal(size=(n, 2)).astype(np.float32),
        node_ids=[f"{i:08d}-4c3b-4e6f-9a7d-5f0e1c2b3a49" for i in range(n)],
        **fields,
    )


def test_fifty_thousand_nodes_are_less_than_five_megabytes(make_data):
    data = large(make_data, 50_000)
    page = render_report(data)
    assert len(page.encode()) < 5_000_000
    assert Reader(page).payload["map"]["shown"] == 50_000
    assert "nodes are shown" not in page


def test_of_more_nodes_the_page_says_how_many_are_shown(make_data):
    data = large(make_data, 51_234, suggestions=[Suggestion(50_000, 1.0)])
    page = render_report(data)
    assert (
        "<strong>20,000 of 51,234 nodes are shown</strong>, chosen at random, every labelled node among them." in page
    )
    ids = Reader(page).payload["map"]["ids"]
    assert len(ids) == 20_000
    assert set(np.asarray(data.node_ids)[data.given >= 0]) <= set(ids)
    position = int(re.search(r'data-node="(\d+)"', page)[1])
    assert ids[position] == data.node_ids[50_000]


def test_of_many_columns_the_first_thirty_are_shown(make_data):
    columns = [(f"word{i}", "number", 1) for i in range(1433)]
    page = render_report(make_data(columns=columns))
    assert "word29<" in page
    assert "word30<" not in page
    assert "The first 30 of 1,433 columns are shown." in page


def test_the_choice_of_a_method_is_shown(make_data):
    tried = [Candidate("sgc", 0.85, 140, 1.23), Candidate("appnp", 0.9, 140, 12.0, chosen=True), Candidate("ncgc")]
    page = render_report(make_data(candidates=tried, choice="appnp was chosen: 90.0 % of 140 held-out labels right."))
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "Why this method appnp was chosen: 90.0 % of 140 held-out labels right." in text
    assert "sgc 85.0 % of 140 1.2 appnp 90.0 % of 140 12.0 chosen ncgc – – no time" in text
    assert page.count('class="chosen"') == 1
    assert "Why this method" not in render_report(make_data())
