"""docs/tutorial.md: every command runs as printed, in order, on a smaller library, and the files it names appear."""

import csv
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest

from ncgc.cli import main

DOCS = Path(__file__).parent.parent / "docs"
TEXT = (DOCS / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(bash|python)\n(.*?)```", TEXT, flags=re.DOTALL)
SIZES = "PAPERS, NEW, LABELS, CITATIONS = 600, 20, 10, 3"


def shell(lines, folder):
    """What bash prints at these lines."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    words = ["bash", "-e", "-c", "\n".join(lines)]
    done = subprocess.run(words, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def here(work):
    """What something prints that is run in this process: loading torch anew for every line would take most of the time."""
    with redirect_stdout(io.StringIO()) as printed:
        work()
    return printed.getvalue()


def command(line):
    assert main(shlex.split(line)[1:]) == 0, line


def run(kind, block, folder):
    if kind == "python":
        return here(lambda: exec(compile(block, "tutorial.md", "exec"), {}))
    printed = ""
    for ours, group in groupby(block.splitlines(), key=lambda line: line.startswith("ncgc ")):
        lines = list(group)
        printed += "".join(here(partial(command, line)) for line in lines) if ours else shell(lines, folder)
    return printed


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The folder after every block of the page, and what each printed."""
    folder = tmp_path_factory.mktemp("library")
    program = (DOCS / "tutorial" / "make_tables.py").read_text(encoding="utf-8")
    assert SIZES in program
    (folder / "make_tables.py").write_text(program.replace(SIZES, "PAPERS, NEW, LABELS, CITATIONS = 100, 6, 5, 3"))
    with chdir(folder):
        return folder, [run(kind, block, folder) for kind, block in BLOCKS]


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_file_the_page_names_is_there(library):
    folder, _ = library
    named = re.findall(r"^\| `([\w.]+)/?`", TEXT, flags=re.MULTILINE)
    assert sorted(named) == sorted(file.name for file in (folder / "run").iterdir())
    for name in re.findall(r"--(?:nodes|edges|out) (\S+)", "".join(block for _, block in BLOCKS)):
        assert (folder / name).exists()


def test_the_library_is_labelled(library):
    folder, _ = library
    found, before = rows(folder / "run" / "predictions.csv"), rows(folder / "careful" / "predictions.csv")
    assert len(found) == len(before) == 100
    assert all(row["label"] for row in found)
    assert sum(row["given"] == "true" for row in before) == 20
    assert sum(row["given"] == "true" for row in found) == 40  # the librarian's twenty
    new = rows(folder / "new_labels.csv")
    assert [row["id"] for row in new] == [row["id"] for row in rows(folder / "new.csv")]
    assert all(row["label"] for row in new)


def test_what_is_checked_and_shown(library):
    _, printed = library
    checked = [line for text in printed for line in text.splitlines() if "% right" in line]
    assert [line.split()[0] for line in checked[::2]] == ["80", "60"]
    assert len(checked) == 3
    assert re.fullmatch(r"(P\d{4} \w+ \d\.\d+\n){3}", printed[-1])


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", TEXT))))
def test_links_lead_somewhere(path):
    assert (DOCS / path).exists()
