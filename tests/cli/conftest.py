"""The command as a person runs it: words in; exit code, stdout and stderr out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ncgc.cli import main

QUICK = ("--epochs", "6", "--warmup", "2", "--ramp", "1", "--hidden", "8")
BRIEF = ("--epochs", "12", "--warmup", "3", "--ramp", "2", "--hidden", "8")


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The last line on stdout."""
        return json.loads(self.out.splitlines()[-1])


@pytest.fixture
def ncgc(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Outcome]:
    """Runs the command in this process, with no data but the digits and no network."""
    from ncgc.datasets import registry

    def offline(*_: object) -> None:
        raise registry.DownloadError("there is no network")

    monkeypatch.delenv("NCGC_DATA", raising=False)
    monkeypatch.setattr(registry, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(registry, "_fetch", offline)

    def run(*words: object) -> Outcome:
        capsys.readouterr()
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def quick(ncgc: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """A training of a moment on the digits."""
    return lambda *words: ncgc("train", "digits", *QUICK, *words)


@pytest.fixture
def interrupted() -> Callable[..., Outcome]:
    """Runs the command in a process of its own and sends Ctrl-C, or another signal, when stderr shows a word.

    The word ``epoch`` comes with the first line of progress, so that training is under way by then.
    """

    def run(*words: object, after: str, number: int = signal.SIGINT) -> Outcome:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            [sys.executable, "-c", "import sys; from ncgc.cli import main; sys.exit(main())", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert process.stderr is not None
        seen = ""
        while after not in seen:
            line = process.stderr.readline()
            assert line, seen
            seen += line
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=600)
        finally:
            process.kill()
        return Outcome(process.returncode, out, seen + err)

    return run


@pytest.fixture
def tables(tmp_path: Path, make_tables: Callable[..., Any]) -> Callable[..., list[str]]:
    """Writes a graph of 48 nodes as nodes.csv and edges.csv; the words that name them to `ncgc fit`."""

    def write(**options: Any) -> list[str]:
        words = []
        for name, frame in zip(("nodes", "edges"), make_tables(**options), strict=True):
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
            words += [f"--{name}", str(tmp_path / f"{name}.csv")]
        return words

    return write


@pytest.fixture
def fit(ncgc: Callable[..., Outcome], tables: Callable[..., list[str]], tmp_path: Path) -> Callable[..., Outcome]:
    """A fit of a moment to the folder `run`, without calibration and report unless they are asked for."""

    def run(*words: object, given: list[str] | None = None, out: str = "run", lean: bool = True) -> Outcome:
        lately = ("--folds", 0, "--no-report") if lean else ("--folds", 2)
        return ncgc("fit", *(tables() if given is None else given), "--out", tmp_path / out, *BRIEF, *lately, *words)

    return run
