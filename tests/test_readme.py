"""README's tables are those that the store gives."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_table_is_what_its_command_shows():
    check = [sys.executable, ROOT / "benchmarks" / "readme.py", "--check"]
    result = subprocess.run(check, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_changed_figure_is_noticed(tmp_path):
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import readme
    finally:
        sys.path.pop(0)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = {found[2].split()[0]: found[0] for found in readme.BLOCK.finditer(text)}
    assert set(blocks) == {"ncgc", "python"}  # one of each kind of command
    for block in blocks.values():
        wrong = block.replace("\n| ", "\n| 9", 1)
        assert wrong != block
        assert readme.rendered(wrong) == block
