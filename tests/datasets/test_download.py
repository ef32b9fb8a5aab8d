"""Downloads, against a small server of our own: all or nothing, in limited time, without a word."""

import socket
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ncgc.datasets import download as module
from ncgc.datasets.catalogue import find_info
from ncgc.datasets.download import DownloadError, _within, download
from ncgc.datasets.planetoid import read_planetoid

CORA = find_info("cora")


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def server(planetoid_raw, monkeypatch):
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(planetoid_raw)))
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setattr(module, "address_of", lambda info: f"http://127.0.0.1:{httpd.server_port}")
    for limit in ("ANSWER_SECONDS", "STALL_SECONDS", "TOTAL_SECONDS"):  # a busy machine may keep the server waiting
        monkeypatch.setattr(module, limit, 600.0)
    yield planetoid_raw
    httpd.shutdown()
    httpd.server_close()


def check(folder):
    return read_planetoid(folder, "cora")


def leftovers(root):
    return sorted(path.name for path in root.rglob("*")) if root.exists() else []


def test_whole_set(server, tmp_path, capfd):
    root = tmp_path / "new" / "cache"
    raw = download(CORA, root, check)
    assert raw == root / "Cora" / "raw"
    assert leftovers(root) == sorted(["Cora", "raw", *CORA.files])
    assert check(raw).num_nodes == 9
    assert capfd.readouterr() == ("", "")


def test_missing_file_leaves_nothing(server, tmp_path):
    (server / "ind.cora.graph").unlink()
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1 answered 404 for ind\.cora\.graph"):
        download(CORA, tmp_path / "cache", check)
    assert leftovers(tmp_path / "cache") == []


def test_no_data_leaves_nothing(server, tmp_path):
    (server / "ind.cora.ally").write_text("<html>Please log in.</html>")
    with pytest.raises(DownloadError, match=r"sent is no data set .*ind\.cora\.ally is damaged"):
        download(CORA, tmp_path / "cache", check)
    assert leftovers(tmp_path / "cache") == []


def test_connection_that_breaks_off(server, tmp_path, monkeypatch):
    whole = Handler.send_header
    monkeypatch.setattr(
        Handler, "send_header", lambda self, k, v: whole(self, k, "999999" if k == "Content-Length" else v)
    )
    with pytest.raises(DownloadError, match=r"broke off after \d+ of 999,999 bytes of ind\.cora\.x"):
        download(CORA, tmp_path / "cache", check)
    assert leftovers(tmp_path / "cache") == []


def test_nobody_listens(tmp_path, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr(module, "address_of", lambda info: f"http://127.0.0.1:{port}")
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1 cannot be reached: .*refused"):
        download(CORA, tmp_path, check)


def test_server_that_never_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.2)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        monkeypatch.setattr(module, "address_of", lambda info: f"http://127.0.0.1:{deaf.getsockname()[1]}")
        with pytest.raises(DownloadError, match="did not answer in time"):
            download(CORA, tmp_path, check)


def test_too_slow_in_all(server, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "TOTAL_SECONDS", -1.0)
    with pytest.raises(DownloadError, match="did not answer in time"):
        download(CORA, tmp_path / "cache", check)


def test_place_that_cannot_be_written(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match="cannot be written"):
        download(CORA, tmp_path / "file" / "cache", check)


def test_within_gives_up_and_hands_on():
    answer = threading.Event()
    with pytest.raises(TimeoutError):
        _within(0.05, lambda: answer.wait(600))
    answer.set()
    with pytest.raises(ZeroDivisionError):
        _within(600, lambda: 1 / 0)


@pytest.mark.parametrize("name", ["cora", "photo", "physics"])
def test_addresses_are_pygs(name):
    assert module.address_of(find_info(name)).startswith("https://github.com/")
