"""Files and folders that are whole or not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ncgc.errors import OutputError
from ncgc.files import TEMPORARY, check_folder, whole_folder, write_text


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_write_text_replaces_the_whole_file(tmp_path):
    write_text(tmp_path / "a.txt", "old and long")
    write_text(tmp_path / "a.txt", "new ε")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "new ε"
    assert names(tmp_path) == ["a.txt"]


def test_write_text_that_fails_leaves_the_old_file(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a.txt", "half \ud800")
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_write_text_nowhere_is_a_sentence(tmp_path):
    with pytest.raises(OutputError, match="cannot be written to"):
        write_text(tmp_path / "no" / "a.txt", "")


def test_a_folder_appears_only_when_done(tmp_path):
    path = tmp_path / "deep" / "run"
    with whole_folder(path) as place:
        (place / "a.csv").write_text("a")
        assert not path.exists()
        assert place.name.startswith(TEMPORARY)
    assert names(path) == ["a.csv"]
    assert names(path.parent) == ["run"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("exists", [False, True])
def test_a_failed_block_leaves_all_as_it_was(tmp_path, error, exists):
    path = tmp_path / "run"
    if exists:
        path.mkdir()
        (path / "a.csv").write_text("old")

    def fail() -> None:
        with whole_folder(path, overwrite=True) as place:
            (place / "a.csv").write_text("new")
            raise error

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == (["run"] if exists else [])
    if exists:
        assert names(path) == ["a.csv"]
        assert (path / "a.csv").read_text() == "old"


def test_overwrite_keeps_what_is_not_stale(tmp_path):
    for name in ("a.csv", "b.csv", "letter.txt"):
        (tmp_path / name).write_text("old")
    with whole_folder(tmp_path, overwrite=True, stale=lambda name: name.endswith(".csv")) as place:
        (place / "a.csv").write_text("new")
    assert names(tmp_path) == ["a.csv", "letter.txt"]
    assert (tmp_path / "a.csv").read_text() == "new"


def test_a_folder_with_files_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match="is not empty"):
        check_folder(tmp_path)
    check_folder(tmp_path, overwrite=True)
    assert names(tmp_path) == ["letter.txt"]


def test_an_empty_folder_may_be_filled(tmp_path):
    with whole_folder(tmp_path) as place:
        (place / "a.csv").write_text("a")
    assert names(tmp_path) == ["a.csv"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        check_folder(tmp_path / "a")


@pytest.mark.skipif(
    os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_locked_folder_is_a_sentence(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="Permission denied"):
        check_folder(tmp_path / "run")


def test_a_place_that_cannot_be_is_a_sentence(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(OutputError, match="cannot be written to"):
        check_folder(tmp_path / "a" / "b")


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize("exists", [False, True])
def test_killed_while_writing_no_final_name_is_half_written(tmp_path, exists):
    path = tmp_path / "run"
    if exists:
        path.mkdir()
        (path / "a.csv").write_text("old")
    script = (
        "import os, signal, sys; from ncgc.files import whole_folder\n"
        "with whole_folder(sys.argv[1], overwrite=True) as place:\n"
        "    file = (place / 'a.csv').open('w'); file.write('ha'); file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    left = [file for file in tmp_path.rglob("*") if TEMPORARY not in str(file.relative_to(tmp_path))]
    if exists:
        assert left == [path, path / "a.csv"]
        assert (path / "a.csv").read_text() == "old"
    else:
        assert left == []


def test_a_folder_inside_is_delivered_too(tmp_path):
    with whole_folder(tmp_path / "run") as place:
        (place / "a.csv").write_text("a")
        with whole_folder(place / "model", at_once=True) as inner:
            (inner / "b.bin").write_text("b")
        assert names(place / "model") == ["b.bin"]
    assert names(tmp_path / "run") == ["a.csv", "model"]
    assert names(tmp_path / "run" / "model") == ["b.bin"]


def test_a_folder_inside_replaces_the_old_one_as_a_whole(tmp_path):
    for name in ("old.bin", "b.bin"):
        (tmp_path / "model").mkdir(exist_ok=True)
        (tmp_path / "model" / name).write_text("old")
    (tmp_path / "letters").mkdir()
    with whole_folder(tmp_path, overwrite=True) as place:
        (place / "model").mkdir()
        (place / "model" / "b.bin").write_text("new")
    assert names(tmp_path) == ["letters", "model"]
    assert names(tmp_path / "model") == ["b.bin"]
    assert (tmp_path / "model" / "b.bin").read_text() == "new"


def test_stale_folders_are_named_with_a_slash(tmp_path):
    for name in ("model", "letters", "a.csv"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "b").write_text("b")
    with whole_folder(tmp_path, overwrite=True, stale=["model/", "a.csv", "letters"].__contains__):
        pass
    assert names(tmp_path) == ["a.csv", "letters"]


@pytest.mark.parametrize("error", [RuntimeError, OSError])
def test_at_once_a_failed_block_leaves_the_old_folder(tmp_path, error):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("old")

    def fail() -> None:
        with whole_folder(tmp_path / "run", overwrite=True, at_once=True) as place:
            (place / "new").write_text("new")
            raise error("disk")

    with pytest.raises(OutputError if error is OSError else error):
        fail()
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["old"]


def test_at_once_the_old_folder_makes_way(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("old")
    with whole_folder(tmp_path / "run", overwrite=True, at_once=True) as place:
        (place / "new").write_text("new")
        assert names(tmp_path / "run") == ["old"]
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["new"]


def test_a_swap_that_fails_puts_the_old_folder_back(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("old")
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if (self / "new").exists():
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)

    def swap() -> None:
        with whole_folder(tmp_path / "run", overwrite=True, at_once=True) as place:
            (place / "new").write_text("new")

    with pytest.raises(OutputError, match="No space left"):
        swap()
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["old"]


def test_a_link_to_nothing_yet_is_filled_where_it_points(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "run")
    check_folder(tmp_path / "link")
    with whole_folder(tmp_path / "link") as place:
        (place / "a.csv").write_text("a")
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "deep" / "run") == ["a.csv"]
    assert names(tmp_path) == ["deep", "link"]


def test_links_in_a_circle_are_a_sentence(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "link")
    with pytest.raises(OutputError, match="cannot be written to"):
        check_folder(tmp_path / "link")
    with pytest.raises(OutputError, match="cannot be written to"):
        write_text(tmp_path / "link", "a")


def test_a_name_that_can_be_none_is_a_sentence(tmp_path):
    with pytest.raises(OutputError, match="cannot be written to"):
        check_folder(tmp_path / "a\0b")


def test_a_file_is_written_where_its_link_points(tmp_path):
    (tmp_path / "a.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    write_text(tmp_path / "link.csv", "new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "a.csv").read_text() == "new"
    assert names(tmp_path) == ["a.csv", "link.csv"]


def test_parents_are_there_only_with_what_is_in_them(tmp_path):
    check_folder(tmp_path / "deep" / "er" / "run")
    assert names(tmp_path) == []

    def fail() -> None:
        with whole_folder(tmp_path / "deep" / "er" / "run"):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert names(tmp_path) == []


def test_what_a_killed_run_left_is_not_in_the_way(tmp_path):
    (tmp_path / f"{TEMPORARY}run-0000").mkdir()
    check_folder(tmp_path)
    with whole_folder(tmp_path) as place:
        (place / "a.csv").write_text("a")
    assert (tmp_path / "a.csv").read_text() == "a"
