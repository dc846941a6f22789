"""A model endpoint on this machine that fails in the way a test asks for."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from reviewer.settings import ModelSettings

Behave = Callable[["Call"], None]


class Call(BaseHTTPRequestHandler):
    """One request. `body`: the data that was sent; the methods below answer it."""

    protocol_version = "HTTP/1.1"
    server: Faulty

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.calls.append(self)
        self.server.behave(self)

    def log_message(self, *_: object) -> None:
        """Silence."""

    def answers(self, status: int, text: str, kind: str = "application/json", **more: str) -> None:
        """A whole answer."""
        data = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **more}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def refuses(self, status: int, message: str, **more: str) -> None:
        """An error as OpenAI words it, which must not be tried again unless `x_should_retry`."""
        error = json.dumps({"error": {"message": message, "type": "some_error"}})
        self.answers(status, error, **{"x_should_retry": "false", **more})

    def begins(self) -> None:
        """The head of a stream that ends with the connection."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def sends(self, line: str) -> None:
        """A line of the stream."""
        self.wfile.write(f"data: {line}\n\n".encode())
        self.wfile.flush()

    def says(self, text: str) -> None:
        """A piece of the answer."""
        self.sends(chunk(text))

    def ends(self, finish: str = "stop", usage: tuple[int, int] | None = (7, 5)) -> None:
        """The end of the answer."""
        self.sends(chunk(None, finish))
        if usage is not None:
            told = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": 12}
            self.sends(json.dumps({"choices": [], "model": "tiny", "usage": told}))
        self.sends("[DONE]")

    def streams(self, *pieces: str, finish: str = "stop") -> None:
        """A whole answer in pieces."""
        self.begins()
        for piece in pieces:
            self.says(piece)
        self.ends(finish)


def chunk(content: str | None, finish: str | None = None, **delta: Any) -> str:
    """A chunk of a streamed chat completion."""
    choice = {"index": 0, "delta": {"content": content, **delta}, "finish_reason": finish}
    return json.dumps({"object": "chat.completion.chunk", "model": "tiny", "choices": [choice]})


class Faulty(ThreadingHTTPServer):
    """The endpoint, and every call that it got."""

    daemon_threads = True

    def __init__(self, behave: Behave) -> None:
        super().__init__(("127.0.0.1", 0), Call)
        self.behave = behave
        self.calls: list[Call] = []

    def settings(self, **more: Any) -> ModelSettings:
        """The settings that lead here."""
        base_url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        return ModelSettings(**{"base_url": base_url, "name": "tiny", "timeout": 20.0, **more})

    def handle_error(self, *_: object) -> None:
        """A caller that hangs up is what some tests are about."""


@contextmanager
def endpoint(behave: Behave) -> Iterator[Faulty]:
    """An endpoint that behaves so, for as long as the block runs."""
    server = Faulty(behave)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
