"""Puts the tables of `ncgc bench show` into README.md and docs, between a command and an end mark.

<!-- ncgc bench show table --split random --datasets cora -->
... the tables that the command prints as Markdown ...
<!-- end -->

A command may also be a script of this folder that shows what it stored: <!-- python benchmarks/leaks.py --show -->.

python benchmarks/readme.py           rewrite the pages
python benchmarks/readme.py --check   list the stale tables, exit code 1 if there are any
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

from ncgc.cli import main
from ncgc.files import write_text

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "leaderboard.md",
    ROOT / "docs" / "findings.md",
    ROOT / "docs" / "scaling.md",
)
RESULTS = Path(__file__).resolve().parent / "results"
BLOCK = re.compile(
    r"(<!-- ((?:ncgc bench show|python benchmarks/\w+\.py --show)[^\n]*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL
)


def rendered(text: str) -> str:
    """The text with every block replaced by the present output of its command."""
    return BLOCK.sub(lambda block: block[1] + _table(block[2]) + block[4], text)


def _table(command: str) -> str:
    """The tables of a command in Markdown, with blank lines between them and without the text around them."""
    lines = _printed(shlex.split(command)).splitlines()
    tables, inside = [""], False
    for line in lines:
        row = line.startswith("|")
        if row:
            tables.append(line)
        elif inside:
            tables.append("")
        inside = row
    return "\n".join(tables).rstrip("\n") + "\n\n"


def _printed(words: list[str]) -> str:
    if words[0] == "python":
        script = [sys.executable, *words[1:]]
        return subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main([*words[1:], "--format", "markdown", "--results", str(RESULTS)])
    if code != 0:
        raise SystemExit(f"'{shlex.join(words)}' ended with exit code {code}.")
    return out.getvalue()


def run(arguments: list[str]) -> int:
    """Rewrite or check all pages and return the exit code."""
    stale, blocks = 0, 0
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = rendered(old)
        for was, now in zip(BLOCK.finditer(old), BLOCK.finditer(new), strict=True):
            blocks += 1
            if was[0] != now[0]:
                stale += 1
                print(f"stale in {page.name}: {now[2]}")
        if "--check" not in arguments and new != old:
            write_text(page, new)
    print(f"{blocks} tables, {stale} of them {'stale' if '--check' in arguments else 'new'}.")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
