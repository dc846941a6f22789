"""`o` and `r` on rows that somebody else may have written: what is opened, who is asked."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network

import pytest

from reviewer.engine import Engine
from reviewer.errors import SourceError
from reviewer.sources import web
from reviewer.sources.elsewhere import read_range
from reviewer.tui.evidence.source import SourceScreen
from reviewer.tui.kit.bars import StatusBar
from tests.fleet.conftest import FACTS, Fleet, rows, session_lines
from tests.tui.conftest import Screen, opened


class Server(ThreadingHTTPServer):
    """A server of the web with one file, and the paths that it was asked for."""

    def __init__(self, data: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.data = data
        self.asked: list[str] = []

    def url(self, path: str = "/one.jsonl") -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Answers(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        server.asked.append(self.path)
        if self.path.startswith("/redirect"):
            self.send_response(302)
            self.send_header("Location", server.url())
            self.end_headers()
            return
        if self.path.startswith("/whole"):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(server.data)
            return
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"])
        assert found is not None
        part = server.data[int(found[1]) : int(found[2]) + 1]
        if self.path.startswith("/more"):
            part = b"x" * 1_000_000
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *args: object) -> None:
        """The tests look at `asked`."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(session_lines("one.jsonl", *FACTS).encode()) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


@pytest.fixture
def asks_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here alone is a server that the tests may ask."""
    monkeypatch.setattr(web, "OWN_NETWORKS", (*web.OWN_NETWORKS, ip_network("127.0.0.0/8")))


def with_path(fleet: Fleet, path: str) -> Engine:
    """A store with the rows of a session, of which a planted file says that it is elsewhere."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fleet.session("one.jsonl", *FACTS)
    fleet.run()
    fleet.candidates()
    file = fleet.parts / "candidates.parquet"
    table = pq.read_table(file)
    paths = pa.array([path] * table.num_rows)
    pq.write_table(table.set_column(table.column_names.index("path"), "path", paths), file)
    fleet.ok("import", file, "--project", "kiosk")
    assert rows(file)
    return Engine.open(fleet.reviewer.db)


def said(screen: Screen) -> str:
    shown = screen.app.screen
    assert isinstance(shown, SourceScreen)
    return shown.query_one(StatusBar).text


async def test_nobody_is_asked_before_the_person_has_seen_the_host(
    fleet: Fleet, server: Server, asks_this_machine: None
) -> None:
    async with opened(with_path(fleet, server.url())) as screen:
        await screen.press("o")
        assert f"r fetches it: 127.0.0.1:{server.server_port}" in said(screen)
        assert server.asked == []
        await screen.press("r")
        assert server.asked == ["/one.jsonl"]
        assert '"type":' in screen.text
        assert said(screen).startswith("Fetched ")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "is not fetched"),
        ("local:///etc/passwd", "is not fetched"),
        ("memory://one", "is not fetched"),
        ("simplecache::file:///etc/passwd", "is not"),
        ("ftp://host/one", "is not fetched"),
        ("zzz://host/one", "is not fetched"),
        ("http://169.254.169.254/latest/meta-data", "within this machine or its cloud"),
        ("http://[::1]:80/one", "within this machine or its cloud"),
        ("http://[::ffff:127.0.0.1]/one", "within this machine or its cloud"),
        ("http://localhost:1/one", "within this machine or its cloud"),
        ("http://2130706433/one", "within this machine|is not a canonical"),
        ("http://0.0.0.0/one", "within this machine or its cloud"),
        ("http://[fd00:ec2::254]/one", "within this machine or its cloud"),
    ],
)
def test_what_is_not_asked(url: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        read_range(url, 0, 10)


@pytest.mark.parametrize("path", ["../../../../etc/passwd", "/tmp/../etc/passwd"])
def test_a_path_that_leads_up_is_not_opened(fleet: Fleet, path: str) -> None:
    engine = Engine.open(fleet.reviewer.db)
    try:
        with pytest.raises(SourceError, match="is not the full path of a file"):
            engine.sources.lines(path, 1)
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/redirect", "it answers with the address of 127.0.0.1, which was not asked"),
        ("/whole", "its server does not send a part of a file"),
        ("/more", "its server sends more than was asked for"),
    ],
)
def test_what_a_server_may_not_answer(
    server: Server, asks_this_machine: None, path: str, reason: str
) -> None:
    with pytest.raises(SourceError, match=reason):
        read_range(server.url(path), 0, 10)
    assert server.asked == [path]


def test_other_bytes_in_that_place_are_not_shown(
    fleet: Fleet, server: Server, asks_this_machine: None
) -> None:
    server.data = session_lines("two", *FACTS[::-1]).encode()
    engine = with_path(fleet, server.url())
    try:
        with pytest.raises(SourceError, match="has changed since it was read"):
            engine.sources.lines(server.url(), 1)
    finally:
        engine.close()
