"""README.md: its example runs as printed, and what it names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_as_printed(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(example.strip().splitlines()) <= 12
    exec(compile(example, "README.md", "exec"), {})
    assert "0." in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_lead_somewhere(path):
    assert (ROOT / path).exists()


def test_the_two_commands_come_first():
    first = README.split("##")[0] + README.split("##")[1]
    assert "make demo" in first
    assert "make test" in first
