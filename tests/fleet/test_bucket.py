"""Sessions and parts in a bucket: an S3 server on this machine, and buckets that do not answer."""

from __future__ import annotations

import gzip
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.errors import SourceError
from tests.fleet.conftest import FACTS, Fleet, evidence, rows, session_lines


class Bucket:
    """A bucket `team` on an S3 server of this machine."""

    def __init__(self, address: str) -> None:
        import s3fs

        self.options = {
            "endpoint_url": address,
            "key": "testing",
            "secret": "testing",
            "client_kwargs": {"region_name": "us-east-1"},
        }
        s3fs.S3FileSystem.clear_instance_cache()
        self.fs = s3fs.S3FileSystem(**self.options)

    def variable(self, **more: Any) -> str:
        """The value of REVIEWER_FSSPEC that leads to it."""
        return json.dumps({"s3": {**self.options, **more}})

    def put(self, name: str, data: bytes) -> str:
        """Write an object; returns its URL."""
        self.fs.pipe_file(f"team/{name}", data)
        return f"s3://team/{name}"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    running = ThreadedMotoServer(port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(server: str, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """An empty bucket, which the program reaches."""
    made = Bucket(server)
    made.fs.call_s3("create_bucket", Bucket="team")
    monkeypatch.setenv("REVIEWER_FSSPEC", made.variable())
    fleet.environment["REVIEWER_FSSPEC"] = made.variable()
    yield made
    made.fs.rm("team", recursive=True)


def test_a_bucket_is_read_as_a_folder_is(fleet: Fleet, bucket: Bucket) -> None:
    for number in range(6):
        data = session_lines(f"s{number}", *FACTS[:3], author=f"person{number}").encode()
        suffix, packed = ("", data) if number % 2 else (".gz", gzip.compress(data))
        bucket.put(f"logs/{number}.jsonl{suffix}", packed)
    bucket.put("logs/picture.png", b"no session")
    counts = fleet.ok("run", "s3://team/logs", "--out", fleet.parts)
    assert (counts["files"], counts["failed"]) == (6, 0)
    found = [row for path in fleet.parts.glob("*.files.parquet") for row in rows(path)]
    assert sorted(row["path"] for row in found)[0] == "s3://team/logs/0.jsonl.gz"
    assert all(row["etag"] and row["modified_ns"] for row in found)
    best = fleet.candidates()[0]
    assert (best["sessions"], best["authors"]) == (6, 6)
    pattern = fleet.ok("run", "s3://team/logs/*.gz", "--out", fleet.folder / "packed")
    assert pattern["files"] == 3


def test_parts_can_be_in_the_bucket(fleet: Fleet, bucket: Bucket) -> None:
    for number in range(4):
        bucket.put(f"logs/{number}.jsonl", session_lines(f"s{number}", *FACTS).encode())
    out = "s3://team/parts"
    counts = fleet.ok("run", "s3://team/logs", "--out", out)
    assert counts["files"] == 4
    again = fleet.ok("run", "s3://team/logs", "--out", out)
    assert again["parts_before"] == counts["parts"]
    bucket.fs.get("team/parts", str(fleet.parts), recursive=True)
    assert evidence(fleet.parts)
    fleet.ok("import", out, "--project", "kiosk")
    assert fleet.queue()[0]["sessions"] == 4


def test_a_row_of_a_bucket_shows_what_was_stored_and_asks_nobody(
    fleet: Fleet, bucket: Bucket
) -> None:
    url = bucket.put("logs/one.jsonl", session_lines("one", *FACTS).encode())
    fleet.ok("run", "s3://team/logs", "--out", fleet.parts)
    fleet.imports()
    bucket.fs.rm_file("team/logs/one.jsonl")
    with closing(Engine.open(fleet.reviewer.db)) as engine:
        number = fleet.queue()[0]["id"]
        (shown,) = engine.queue.evidence(number)
        assert shown.record.path == url
        assert engine.sources.stale([number]) == set()
        with pytest.raises(SourceError, match="is not on this machine"):
            engine.sources.lines(url, shown.line)


def test_a_bucket_that_is_not_there(fleet: Fleet, bucket: Bucket) -> None:
    del bucket
    said = fleet.fails("run", "s3://team/nothing", "--out", fleet.parts)
    assert "s3://team/nothing does not exist: check the address" in said
    fleet.environment["REVIEWER_FSSPEC"] = "no json"
    said = fleet.fails("run", "s3://team/nothing", "--out", fleet.parts)
    assert "REVIEWER_FSSPEC is not a JSON object of objects" in said
    del fleet.environment["REVIEWER_FSSPEC"]
    assert "cannot be opened" in fleet.fails("run", "nowhere://team", "--out", fleet.parts)


class _Forbidding(BaseHTTPRequestHandler):
    """Answers 403 to everything."""

    def _refuse(self) -> None:
        body = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = _refuse  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_bucket_that_answers_403(fleet: Fleet) -> None:
    with serving(_Forbidding) as address:
        options = {"s3": {"endpoint_url": address, "key": "a", "secret": "b"}}
        fleet.environment["REVIEWER_FSSPEC"] = json.dumps(options)
        said = fleet.fails("run", "s3://team/logs", "--out", fleet.parts)
    assert "access denied (403). Check the credentials and the policy." in said


def in_front_of(server: str, late: threading.Event) -> type[_Forbidding]:
    """Passes on what the real server answers, but refuses files named `secret`, and answers for
    those named `slow` only after `late`.
    """

    class Gate(_Forbidding):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size)
            if "secret" in self.path and self.command == "GET":
                self._refuse()
                return
            if "slow" in self.path and self.command == "GET":
                late.wait(60)
            there = http.client.HTTPConnection(server.removeprefix("http://"), timeout=30)
            there.request(self.command, self.path, body, dict(self.headers.items()))
            answer = there.getresponse()
            data = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                    self.send_header(name, value)
            size = int(answer.getheader("Content-Length") or len(data))
            self.send_header("Content-Length", str(size))
            self.end_headers()
            self.wfile.write(data)
            there.close()

        do_GET = do_HEAD = do_POST = do_PUT = _pass_on  # noqa: N815

    return Gate


def test_files_that_come_late_or_are_refused_are_named_and_the_rest_is_read(
    fleet: Fleet, bucket: Bucket, server: str
) -> None:
    for name in ("first", "secret", "slow", "third"):
        bucket.put(f"logs/{name}.jsonl", session_lines(name, *FACTS).encode())
    late = threading.Event()
    with serving(in_front_of(server, late)) as address:
        quick = {"connect_timeout": 5, "read_timeout": 1, "retries": {"max_attempts": 1}}
        fleet.environment["REVIEWER_FSSPEC"] = bucket.variable(
            endpoint_url=address, config_kwargs=quick
        )
        try:
            counts = fleet.ok("run", "s3://team/logs", "--out", fleet.parts)
        finally:
            late.set()
        assert (counts["files"], counts["failed"], counts["state"]) == (4, 2, "done")
        refused, slow = counts["problems"]
        assert refused.startswith("s3://team/logs/secret.jsonl cannot be read: access denied (403)")
        assert slow.startswith("s3://team/logs/slow.jsonl cannot be read: it did not answer in")
        fleet.imports()
        assert fleet.queue()[0]["sessions"] == 2
