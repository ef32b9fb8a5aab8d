"""The command as a whole: its first screen, its version, and one sentence for whatever goes wrong."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

import ncgc as package
from ncgc.cli import app, main


def one_sentence(err: str) -> bool:
    return err.startswith("Error: ") and err.count("\n") == 1 and "Traceback" not in err


def test_version(ncgc):
    result = ncgc("--version")
    assert (result.code, result.out) == (0, f"ncgc {package.__version__}\n")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_first_screen_names_every_verb(ncgc, words):
    result = ncgc(*words)
    assert result.code == 0
    assert all(verb in result.out for verb in ("demo", "train", "datasets"))


def test_help_does_not_wait_for_torch():
    script = "import sys; from ncgc.cli import main; main(['train', '--help']); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("trian",), "'train'"),
        (("train", "digits", "--droput", "0.1"), "did you mean '--dropout'?"),
        (("train", "digits", "--zzz"), "ncgc train --help"),
        (("train", "digits", "--epochs"), "requires an argument"),
        (("train", "digits", "more"), "more"),
        (("datasets", "--data", "/no/such/place"), "/no/such/place"),
    ],
)
def test_wrong_usage_is_one_sentence(ncgc, words, part):
    result = ncgc(*words)
    assert result.code == 2
    assert one_sentence(result.err)
    assert part in result.err
    assert result.out == ""


def test_too_little_memory_is_one_sentence(ncgc, monkeypatch):
    def hungry(*_: object, **__: object) -> None:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 byte")

    monkeypatch.setattr("ncgc.models.ncgc.NCGC.fit", hungry)
    result = ncgc("train", "digits")
    assert result.code == 2
    assert one_sentence(result.err)
    assert "memory" in result.err


def test_a_bug_is_not_hidden(ncgc, monkeypatch):
    monkeypatch.setattr("ncgc.models.ncgc.NCGC.fit", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ncgc("train", "digits")


def test_ctrl_c_anywhere_is_one_line(monkeypatch, capsys):
    def stop(words: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "run", stop)
    assert main([]) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [("datasets",), ("--help",)])
def test_a_full_disk_under_stdout_is_one_sentence(words):
    command = [sys.executable, "-c", "import sys; from ncgc.cli import main; sys.exit(main())", *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "Error: The output cannot be written (No space left on device); send it elsewhere.\n"


def test_a_path_one_may_not_look_at_is_one_sentence(ncgc, monkeypatch):
    def closed(self):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_dir", closed)
    result = ncgc("tune", "digits", "--out", "closed/best.toml")
    assert result.code == 2
    assert one_sentence(result.err)
    assert "closed/best.toml cannot be used (Permission denied)" in result.err


def test_an_error_of_the_system_that_names_no_file_is_not_hidden(ncgc, monkeypatch):
    def broken(*_, **__):
        raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")

    monkeypatch.setattr("ncgc.datasets.load_dataset", broken)
    with pytest.raises(ConnectionResetError):
        ncgc("train", "digits")


def test_python_m_ncgc_is_the_command():
    found = subprocess.run([sys.executable, "-m", "ncgc", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.split()[-1] == package.__version__


def test_an_option_that_was_renamed_is_named(ncgc):
    done = ncgc("train", "digits", "--class-weight", 2)
    assert done.code == 2
    assert "Unknown option '--class-weight'; it is called '--label-loss-weight' now." in done.err
    done = ncgc("train", "digits", "--set", "class_weight=2")
    assert done.code == 2
    assert "it is called 'label_loss_weight' now." in done.err


def test_auto_is_no_method_of_train(ncgc):
    done = ncgc("train", "digits", "--method", "auto", "--hidden", 32)
    assert done.code == 2
    assert "Unknown method 'auto'" in done.err


def test_a_page_of_methods_has_no_markup(ncgc):
    for name in ("ncgc", "gcn_star", "label_propagation"):
        shown = ncgc("methods", name).out
        assert ":class:" not in shown
        assert "Fitted attributes" not in shown
