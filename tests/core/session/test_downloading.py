"""Files that are named by an address, from a server on loopback."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from terp.errors import AttachmentError
from terp.session.downloading import downloaded, is_address


class _Files(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = self.path.partition("?")[0].endswith(".csv") or self.path == "/"
        self.send_response(200 if known else 404)
        self.end_headers()
        self.wfile.write(b"a,b\n1,2\n" if known else b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/sales.csv", "sales.csv"),
        ("/a/b%20c.csv?x=1#y", "b c.csv"),
        ("/%2e%2e%2fetc%2fx.csv", "_etc_x.csv"),
        ("/", "download"),
        ("/-rf%0a.csv", "-rf_.csv"),
        (f"/{'%C3%A9' * 200}.csv", f"{'é' * 125}.csv"),
    ],
)
def test_a_file_is_named_after_the_end_of_its_address(
    address: str, tmp_path: Path, path: str, name: str
) -> None:
    found = downloaded(address + path, tmp_path)
    assert (found, found.read_bytes()) == (tmp_path / name, b"a,b\n1,2\n")


def test_no_file_is_written_over(address: str, tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("mine")
    assert downloaded(f"{address}/sales.csv", tmp_path).name == "sales-2.csv"
    assert (tmp_path / "sales.csv").read_text() == "mine"


def test_a_file_that_is_too_large_is_refused_and_leaves_nothing(address: str, tmp_path: Path) -> None:
    with pytest.raises(AttachmentError, match="is larger than 4 bytes; download it yourself"):
        downloaded(f"{address}/sales.csv", tmp_path, limit=4)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_there_is_told_and_leaves_nothing(address: str, tmp_path: Path) -> None:
    with pytest.raises(AttachmentError, match=r"cannot fetch 'http://.*/nowhere': 404 Not Found\."):
        downloaded(f"{address}/nowhere", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_answer_is_told(tmp_path: Path) -> None:
    with pytest.raises(AttachmentError, match=r"cannot fetch 'http://127\.0\.0\.1:9/x': "):
        downloaded("http://127.0.0.1:9/x", tmp_path)


@pytest.mark.parametrize(
    ("name", "is_one"), [("https://x.y/z", True), ("HTTP://x", True), ("http.csv", False)]
)
def test_an_address_is_told_from_a_file(name: str, is_one: bool) -> None:
    assert is_address(name) == is_one
