"""The page in a real browser: Debian's chromium, driven by playwright. `make test-browser` installs both."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ncgc.report import ReportData, Suggestion, render_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE = 180_000  # milliseconds: where other work holds every core, opening a page has taken half a minute
pytestmark = [
    pytest.mark.skipif(find_spec("playwright") is None, reason="needs playwright: make test-browser installs it"),
    pytest.mark.skipif(
        CHROMIUM is None, reason="needs chromium: apt-get install chromium, or make test-browser as root"
    ),
]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import Error, sync_playwright

    options = ["--disable-dev-shm-usage"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        options.append("--no-sandbox")  # chromium will not have root inside a sandbox
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        except Error as error:
            pytest.skip(f"chromium does not start here: {error.message.splitlines()[0]}")
        yield started
        started.close()


class Opened:
    """An open page, its messages and its requests."""

    def __init__(self, page, path: Path):
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_load_state()
        self.own = path.as_uri()

    @property
    def elsewhere(self) -> list[str]:
        return [url for url in self.requests if url not in (self.own, "data:,")]

    def place(self, node: int) -> tuple[float, float]:
        """Where a node is in the window, with the map scrolled into sight."""
        canvas = self.page.locator("#dots")
        canvas.scroll_into_view_if_needed()
        box, at = canvas.bounding_box(), self.page.evaluate("node => ncgcMap.screen(node)", node)
        return box["x"] + at["x"], box["y"] + at["y"]

    def hover(self, node: int) -> str:
        """The id that the tooltip shows of a node."""
        self.page.mouse.move(*self.place(node))
        return self.page.locator(".tip-id").text_content()

    def dots(self) -> str:
        """The pixels of the map as a picture, after the frame that is due."""
        return self.page.evaluate(
            "async () => { await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));"
            "return ncgcMap.dots.toDataURL(); }"
        )


@pytest.fixture
def open_report(browser, tmp_path):
    contexts = []

    def opened(data: ReportData, width: int = 1280, height: int = 900, **options) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(render_report(data), encoding="utf-8")
        options.setdefault("reduced_motion", "reduce")
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, **options))
        contexts[-1].set_default_timeout(PATIENCE)
        return Opened(contexts[-1].new_page(), path)

    yield opened
    for context in contexts:
        context.close()


def far_apart(data: ReportData, count: int = 5) -> list[int]:
    """Nodes with no other near them, so that pointing at one cannot mean another."""
    distance = np.linalg.norm(data.embedding2d[:, None] - data.embedding2d[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    return np.argsort(-distance.min(axis=1))[:count].tolist()


def test_opens_without_complaint_and_asks_nobody(open_report, full_data):
    opened = open_report(full_data())
    opened.page.wait_for_function("document.querySelectorAll('.plot').length === 6")
    assert opened.complaints == []
    assert opened.elsewhere == []
    assert opened.requests[0] == opened.own


@pytest.mark.parametrize("k", [1, 2])
def test_the_smallest_reports_open(open_report, make_data, k):
    history = {"epoch": [1], "total": [0.5], "val_accuracy": [1.0]}
    opened = open_report(make_data(n=k, k=k, history=history, best_epoch=0))
    opened.page.locator("button[data-mode=confidence]").click()
    opened.page.locator("#zoom-in").click()
    opened.page.locator("#search").fill("n0")
    opened.page.keyboard.press("Enter")
    assert opened.page.locator(".tip-id").text_content() == "n0"
    assert "NaN" not in opened.page.locator("main").inner_html()
    assert opened.complaints == []


def test_hover_shows_the_node_pointed_at(open_report, full_data):
    data = full_data()
    opened = open_report(data)
    for node in far_apart(data):
        assert opened.hover(node) == f"n{node}"
        tip = opened.page.locator("#tooltip")
        assert f"Confidence {data.confidence[node]:.2f}" in tip.inner_text()
        likely = [data.classes[c] for c in np.argsort(-data.probabilities[node])]
        assert tip.locator(".tip-name").all_text_contents() == likely
    opened.page.mouse.move(5, 5)
    opened.page.locator("#tooltip").wait_for(state="hidden")


def test_hostile_names_are_shown_as_they_are(open_report, make_data, hostile):
    n = len(hostile)
    data = make_data(
        n=n, k=n, node_ids=hostile, classes=hostile, title=hostile[0], suggestions=[Suggestion(0, 1.0, hostile[1])]
    )
    opened = open_report(data)
    for node, name in enumerate(hostile):
        opened.page.evaluate("node => ncgcMap.reveal(node)", node)
        shown = opened.page.locator(".tip-id").text_content()
        assert shown == ((name if len(name) <= 200 else name[:199] + "…") or "(empty)")
    assert opened.page.locator("h1").text_content() == hostile[0]
    assert opened.page.locator(".next .why").text_content() == hostile[1]
    assert opened.page.locator("img").count() == 0
    assert opened.complaints == []
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_search_finds_and_rings_the_node(open_report, full_data):
    opened = open_report(full_data())
    page = opened.page
    # how many pixels around the node have the ring's colour, #d6246e
    ringed = """node => { const at = ncgcMap.screen(node), pen = ncgcMap.rings.getContext('2d'), reach = 20;
        const pixels = pen.getImageData(at.x - reach, at.y - reach, 2 * reach, 2 * reach).data;
        return pixels.filter((red, k) => k % 4 === 0 && red === 0xd6 && pixels[k + 1] === 0x24).length; }"""
    assert page.evaluate(ringed, 47) == 0
    page.locator("#search").fill("n4")
    assert page.locator("#offers li").all_text_contents() == ["n4", *(f"n{i}" for i in range(40, 47))]
    page.locator("#search").fill("47")
    page.keyboard.press("Enter")
    assert page.locator("#map").get_attribute("data-selected") == "n47"
    assert page.locator(".tip-id").text_content() == "n47"
    assert page.evaluate(ringed, 47) > 40
    assert page.evaluate("ncgcMap.view.zoom") > 3
    at = page.evaluate("ncgcMap.screen(47)")
    box = page.locator("#dots").bounding_box()
    assert 0 < at["x"] < box["width"]
    assert 0 < at["y"] < box["height"]


def test_search_by_arrows_and_for_what_is_not_there(open_report, full_data):
    page = open_report(full_data()).page
    page.locator("#search").fill("n5")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator("#offers [aria-selected=true]").text_content() == "n50"
    page.keyboard.press("Enter")
    assert page.locator("#map").get_attribute("data-selected") == "n50"
    page.locator("#search").fill("nobody")
    assert page.locator("#offers li").all_text_contents() == ["No such id"]
    page.keyboard.press("Escape")
    assert page.locator("#offers").is_hidden()


def test_the_table_of_suggestions_leads_to_the_map(open_report, full_data):
    page = open_report(full_data()).page
    page.locator(".next button").first.click()
    assert page.locator("#map").get_attribute("data-selected") == "n59"
    box = page.locator("#map").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 900


def test_each_colouring_gives_other_pixels(open_report, full_data):
    opened = open_report(full_data())
    seen = [opened.dots()]
    for mode in ("confidence", "source"):
        button = opened.page.locator(f"button[data-mode={mode}]")
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        seen.append(opened.dots())
    assert seen[0] != seen[1] != seen[2] != seen[0]
    opened.page.locator("button[data-mode=label]").click()
    assert opened.dots() == seen[0]


def test_the_legend_hides_a_class_and_shows_it_again(open_report, full_data):
    data = full_data()
    opened = open_report(data)
    node = next(node for node in far_apart(data, 60) if data.labels[node] == 1)
    everything = opened.dots()
    button = opened.page.locator("#classes button[data-class='1']")
    assert button.locator(".count").text_content() == str((data.labels == 1).sum())
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert opened.dots() != everything
    opened.page.mouse.move(*opened.place(node))
    assert opened.page.locator("#tooltip").is_hidden()
    button.click()
    assert opened.dots() == everything
    assert opened.hover(node) == f"n{node}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_is_the_systems_until_it_is_changed(open_report, full_data, scheme):
    opened = open_report(full_data(), color_scheme=scheme)
    ground = "getComputedStyle(document.body).backgroundColor"
    first, dots = opened.page.evaluate(ground), opened.dots()
    assert opened.page.locator("html").get_attribute("data-theme") == scheme
    opened.page.locator("#theme").click()
    assert opened.page.locator("html").get_attribute("data-theme") != scheme
    assert opened.page.evaluate(ground) != first
    assert opened.dots() != dots
    opened.page.reload()
    assert opened.page.locator("html").get_attribute("data-theme") != scheme  # remembered
    assert opened.complaints == []


@pytest.mark.parametrize("k", [3, 150])
def test_a_phone_needs_no_sideways_scrolling(open_report, full_data, k):
    names = [f"a rather long name for class number {i}" for i in range(k)]
    data = full_data(n=4 * k, k=k, classes=names, node_ids=["i" * 190 + str(i) for i in range(4 * k)])
    page = open_report(data, 390, 844, device_scale_factor=2, has_touch=True).page
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator("#search").fill("i1")
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator(".share").count() == min(k, 30)
    assert page.locator("#classes button").count() == k
    assert page.locator(".legend").bounding_box()["height"] < 320  # many classes scroll
    page.locator("#classes button").last.click()
    assert page.locator("#classes button").last.get_attribute("aria-pressed") == "false"


def test_a_tap_selects_on_a_touch_screen(open_report, full_data):
    data = full_data()
    opened = open_report(data, 390, 844, has_touch=True)
    node = far_apart(data)[0]
    opened.page.touchscreen.tap(*opened.place(node))
    assert opened.page.locator("#map").get_attribute("data-selected") == f"n{node}"


def test_two_fingers_zoom(open_report, full_data):
    opened = open_report(full_data(), 390, 844, has_touch=True)
    x, y = opened.place(0)
    fingers = opened.page.context.new_cdp_session(opened.page)
    for kind, gap in (("touchStart", 20), ("touchMove", 40), ("touchMove", 60), ("touchEnd", None)):
        points = [] if gap is None else [{"x": x - gap, "y": y, "id": 0}, {"x": x + gap, "y": y, "id": 1}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert opened.page.evaluate("ncgcMap.view.zoom") == pytest.approx(3, rel=0.15)
    assert opened.page.evaluate("visualViewport.scale") == 1  # the map, not the page
    assert opened.page.locator("#map").get_attribute("data-selected") in (None, "")


def test_wheel_drag_and_keys_move_the_map(open_report, full_data):
    opened = open_report(full_data())
    page = opened.page
    x, y = opened.place(0)
    page.mouse.move(x, y)
    for _ in range(600):  # a page that has just been scrolled keeps the wheel for a moment
        page.wait_for_timeout(300)
        page.mouse.wheel(0, -40)
        if page.evaluate("ncgcMap.view.zoom") > 1:
            break
    page.wait_for_function("ncgcMap.view.zoom > 1")
    assert opened.place(0) == pytest.approx((x, y), abs=1)  # what is under the pointer stays there
    before = page.evaluate("ncgcMap.view.centre.x")
    page.mouse.down()
    page.mouse.move(x + 30, y, steps=3)
    page.mouse.up()
    assert page.evaluate("ncgcMap.view.centre.x") != before
    page.locator("#dots").press("0")
    assert page.evaluate("ncgcMap.view.zoom") == 1


def test_paper_gets_light_colours_and_no_controls(open_report, full_data):
    opened = open_report(full_data(), color_scheme="dark")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened.page.emulate_media(media="print")
    assert opened.page.locator("html").get_attribute("data-theme") == "light"
    assert opened.page.locator("#search").is_hidden()
    assert opened.page.locator("dt", has_text="hidden").is_visible()  # the folded settings
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.locator("html").get_attribute("data-theme") == "dark"


def test_fifty_thousand_nodes_open_and_answer(open_report, make_data):
    n = 50_000
    side = np.arange(n) % 250, np.arange(n) // 250
    places = np.stack(side, axis=1).astype(np.float32)  # a grid: each node has its own place
    opened = open_report(make_data(n=n, k=20, embedding2d=places))
    opened.page.wait_for_function("window.ncgcMap")
    opened.page.evaluate("ncgcMap.view.zoomAt(300, 300, 12); ncgcMap.draw()")
    inside = opened.page.evaluate(
        "Array.from({length: 50000}, (_, i) => i).filter(i => { const {x, y} = ncgcMap.screen(i);"
        "return x > 50 && y > 50 && x < 600 && y < 400; })"
    )
    assert len(inside) > 50
    for node in inside[:: len(inside) // 12]:
        opened.page.mouse.move(*opened.place(node))
        assert opened.page.locator(".tip-id").text_content() == f"n{node}"
    assert opened.complaints == []
