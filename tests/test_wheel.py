"""The wheel: whole, and the same program as the source tree when installed alone into an empty environment."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("ncgc", "ncgc_bench")
LIMIT = 900  # seconds, for a machine that is busy
MEASURED = ("seconds", "peak_mib")  # another number each time
TRAIN = ("train", "digits", "--method", "gcnii", "--set", "epochs=3", "--set", "hidden=16", "--json")


def run(*command, folder, **environment):
    """What a command writes to stdout, run outside the source tree and without this environment's PYTHONPATH."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean = inherited | {"OMP_NUM_THREADS": "1", "COLUMNS": "100", "NO_COLOR": "1"} | environment
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=clean, capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of a copy of the source tree: setuptools would leave its build folder in the tree, and take old files from it."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", ".", "--no-deps", "--no-build-isolation", "--no-index", "-w", "dist", folder=copy)
    (found,) = (copy / "dist").iterdir()
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment with the wheel, and with this one's packages behind it as its dependencies."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", wheel, folder=home)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=home).strip())
    # The folders of a .pth file come last on the path, and their own .pth files, an editable ncgc among them, are not read.
    dependencies = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (site / "dependencies.pth").write_text("\n".join(dependencies) + "\n")
    return home


@pytest.fixture
def both(installed, tmp_path):
    """``both(*words)``: what ``ncgc`` writes in the empty environment, and what it writes from the source tree."""

    def outputs(*words):
        source = run(sys.executable, "-m", "ncgc", *words, folder=tmp_path, PYTHONPATH=str(ROOT / "src"))
        return run(installed / "bin" / "ncgc", *words, folder=tmp_path), source

    return outputs


def test_every_file_of_the_source_tree_is_in_the_wheel(wheel):
    expected = {
        path.relative_to(ROOT / "src").as_posix()
        for package in PACKAGES
        for path in (ROOT / "src" / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {Path(name).suffix for name in expected} >= {".py", ".toml", ".html", ".css", ".js", ".typed"}
    with ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert found == expected


@pytest.mark.parametrize("package", PACKAGES)
def test_the_installed_package_is_the_one_that_runs(installed, tmp_path, package):
    file = run(installed / "bin" / "python", "-c", f"import {package} as p; print(p.__file__)", folder=tmp_path).strip()
    assert Path(file).is_relative_to(installed)


@pytest.mark.parametrize("words", [("methods", "gcnii"), ("bench", "--help")], ids=" ".join)
def test_what_it_prints_is_what_the_source_tree_prints(both, words):
    installed, source = both(*words)
    assert installed == source


def test_a_method_trains_with_its_recommended_settings(both):
    """An installed package without settings files would train every method at its class defaults and not say so."""
    installed, source = (json.loads(text.splitlines()[-1]) for text in both(*TRAIN))
    for result in (installed, source):
        for measured in MEASURED:
            assert result.pop(measured) > 0
    assert installed == source
