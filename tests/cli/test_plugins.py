"""Commands of other packages."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
import typer

from ncgc.cli import plugins

other = typer.Typer()


@other.command()
def greet() -> None:
    """Greet from another package."""
    typer.echo("hello")


@pytest.fixture
def installed(monkeypatch):
    """An entry point of this file, as if a package that declares it were installed."""

    def forget():
        plugins._plugins.cache_clear()
        plugins.load_plugin.cache_clear()

    point = EntryPoint("greet", f"{__name__}:other", plugins.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point])
    forget()
    yield
    forget()


@pytest.mark.usefixtures("installed")
def test_an_entry_point_is_a_command(ncgc):
    assert "Greet from another package." in ncgc("--help").out
    assert ncgc("greet").out == "hello\n"


def test_the_benchmarks_are_a_command(ncgc):
    assert "bench" in plugins.plugin_names()
    assert ncgc("bench", "--help").code == 0


def test_the_benchmarks_are_imported_only_when_they_are_needed():
    script = "import sys; from ncgc.cli import main; main(['datasets']); sys.exit('ncgc_bench' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
