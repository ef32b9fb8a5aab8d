"""What CONTRIBUTING.md, the architecture page and the decisions name is there."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
PAGES = sorted({ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "decisions").glob("*.md")})
NAMED = re.compile(r"(?<![\w/.])((?:src|tests|docs|benchmarks)/[\w./-]*[\w/])")
EXAMPLES = re.compile(r"one_layer|NAME")  # files of the reader's own
LINKED = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def paths(page):
    """Every path that a page names, from the root of the repository, or links to, from its own folder."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)  # commands and examples
    return {*(ROOT / name for name in NAMED.findall(text)), *(page.parent / name for name in LINKED.findall(text))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_exists(page):
    missing = sorted(str(path.relative_to(ROOT)) for path in paths(page) if not path.exists())
    assert [name for name in missing if not EXAMPLES.search(name)] == []


def test_every_question_is_answered_by_one_file():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Where would I change …?")[1]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table, flags=re.MULTILINE)[1:]
    assert len(rows) > 30
    for question, answer in rows:
        assert len(re.findall(r"`[\w./]+`", answer)) == 1, question


def test_the_layers_on_the_page_are_those_that_are_checked():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^    (errors.+)$", page, flags=re.MULTILINE)
    assert re.split(r", | → ", line) == contracts[0]["layers"][::-1]


def test_every_package_is_on_the_page():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for package in (ROOT / "src" / "ncgc").iterdir():
        if package.is_dir() and (package / "__init__.py").exists():
            assert f"| `{package.name}/` |" in page


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_its_three_parts_in_twenty_lines(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, flags=re.MULTILINE) == ["Context", "Decision", "Evidence"]
    assert text.count("\n") <= 20


def test_the_index_has_every_decision():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\((\d[\w-]+\.md)\)", index) == [page.name for page in DECISIONS]
