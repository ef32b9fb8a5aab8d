"""What a person sees, on a terminal and on a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console

from ncgc.cli import screen
from ncgc.cli.screen import Screen, describe

pty = pytest.importorskip("pty", reason="a pseudo-terminal needs Unix")


def in_terminal(columns: int, *words: str) -> str:
    """What a terminal of this width would be sent, without colours."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "OMP_NUM_THREADS": "1"}
    script = "import sys; from ncgc.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", script, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    sent = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side has closed
            break
        if not piece:
            break
        sent += piece
    os.close(ours)
    assert process.wait(timeout=600) == 0, sent.decode()
    return re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", sent.decode())


@pytest.mark.parametrize("columns", [60, 120])
def test_train_fits_the_terminal(columns):
    shown = in_terminal(columns, "train", "digits", "--epochs", "40", "--warmup", "5", "--ramp", "5", "--runs", "2")
    lines = re.split(r"[\r\n]+", shown)
    assert max(len(line) for line in lines) <= columns
    assert "━" in shown  # the bar
    assert re.search(r"class \d\.\d+  kl \d\.\d+  pl \d\.\d+  val \d+\.\d %", shown)
    assert "Traceback" not in shown
    # the facts and results begin lines of their own and are not torn
    for start in ("digits", "split", "model", "seed 0", "seed 1", "mean"):
        assert any(line.startswith(f"{start} ") for line in lines), start


@pytest.mark.parametrize("columns", [60, 120])
def test_datasets_fits_the_terminal(columns):
    lines = re.split(r"[\r\n]+", in_terminal(columns, "datasets"))
    assert max(len(line) for line in lines) <= columns
    assert not any("…" in line for line in lines)


def test_plain_lines_come_now_and_then(monkeypatch):
    clock = iter([0.0, 1.0, 6.0, 6.0, 7.0])
    monkeypatch.setattr(screen.time, "monotonic", lambda: next(clock))
    shown = Screen()
    shown.console = Console(file=StringIO(), width=20)
    with shown.progress("seed 0", 9) as watch:
        for epoch in (1, 2, 3):
            watch(epoch, {"class": 1.0})
    assert shown.console.file.getvalue() == "seed 0  epoch 2/9  class 1.000\n"  # longer than 20: a pipe is not wrapped


def test_huge_losses_stay_short():
    assert len(describe({"class": 1e30, "kl": 1e30, "pl": 1e30, "val_accuracy": 1.0})) <= 52
