"""One request to an endpoint, in a thread of its own, so that it can be stopped at any moment.

While a model reads a long prompt nothing arrives for a while; a person who says stop does not wait
for that, and the server learns at once that nobody listens any more.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import cache
from ssl import SSLContext
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk

from reviewer.llm.endpoint import Endpoint

POLL = 0.05
"""Seconds between two looks at whether to stop."""
CONNECT = 10.0
"""Seconds that a connection may take to come about."""
LARGEST = 32 << 20
"""Bytes of an answer; the longest that a model gives are a third of that, with all around them."""
LARGEST_PACKED = LARGEST // 1000
"""The same for a compressed one: nobody asked for it, and it unpacks to a thousand times this."""
HEADERS = frozenset(
    {"host", "accept", "connection", "content-type", "content-length",
     "transfer-encoding", "user-agent"}
)  # fmt: skip
"""All that is said about this machine, and no header that a variable of the environment adds."""


class StoppedError(Exception):
    """The caller's `stop` said so."""


class MalformedError(Exception):
    """What arrived is no stream of chat completion chunks."""


class LateError(Exception):
    """The time is over. `status`: what the endpoint said last, for instance 429."""

    def __init__(self, status: int | None) -> None:
        super().__init__()
        self.status = status


class _Limited(httpx2.SyncByteStream):
    """A body that ends with MalformedError once it is larger than any answer."""

    def __init__(self, body: httpx2.SyncByteStream, limit: int) -> None:
        self._body = body
        self._left = limit

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._body:
            self._left -= len(piece)
            if self._left < 0:
                raise MalformedError
            yield piece

    def close(self) -> None:
        self._body.close()


class Exchange:
    """Sends one chat completion request and hands out its chunks as they arrive."""

    def __init__(self, endpoint: Endpoint, request: dict[str, Any], retries: int) -> None:
        self._endpoint = endpoint
        self._request = request
        self._retries = retries
        self._arrived: queue.SimpleQueue[ChatCompletionChunk | BaseException | None] = (
            queue.SimpleQueue()
        )
        self._over = threading.Event()
        self._sockets: list[socket.socket] = []
        self.status: int | None = None
        self.content_type = ""

    def chunks(
        self, stop: Callable[[], bool], seconds: float
    ) -> Generator[ChatCompletionChunk, None, None]:
        """The chunks of the answer; leaving the iteration closes the connection.

        Raises what the client raises, MalformedError, StoppedError as soon as `stop` says so, and
        LateError when the answer was not whole after so many seconds.
        """
        end = time.monotonic() + seconds
        threading.Thread(
            target=self._run, args=(seconds,), name="model exchange", daemon=True
        ).start()
        try:
            while True:
                if stop():
                    raise StoppedError
                left = end - time.monotonic()
                if left <= 0:
                    raise LateError(self.status)
                try:
                    arrived = self._arrived.get(timeout=min(POLL, left))
                except queue.Empty:
                    continue
                if arrived is None:
                    return
                if isinstance(arrived, BaseException):
                    raise arrived
                yield arrived
        finally:
            self._close()

    def _run(self, seconds: float) -> None:
        try:
            with self._client(seconds) as client:
                stream = client.chat.completions.create(**self._request, stream=True)
                self.content_type = stream.response.headers.get("content-type", "")
                with stream:
                    for chunk in stream:
                        if self._over.is_set():
                            return
                        self._arrived.put(chunk)
            self._arrived.put(None)
        except (ValueError, TypeError, AttributeError, RecursionError) as problem:
            # The client takes apart what it is sent without looking at it first.
            malformed = MalformedError()
            malformed.__cause__ = problem
            self._arrived.put(malformed)
        except Exception as problem:  # raised where the chunks are waited for
            self._arrived.put(problem)

    def _client(self, seconds: float) -> openai.OpenAI:
        local = self._endpoint.local
        carrier = httpx2.Client(
            # Another proxy than none would make "this machine" untrue.
            trust_env=not local,
            verify=False if self._endpoint.base_url.startswith("http:") else _trusted(),
            follow_redirects=False,
            timeout=httpx2.Timeout(seconds, connect=min(CONNECT, seconds)),
            event_hooks={"request": [self._before], "response": [self._after]},
        )
        return openai.OpenAI(
            base_url=self._endpoint.base_url,
            api_key=self._endpoint.key or "none",
            admin_api_key="",
            http_client=carrier,
            max_retries=self._retries,
        )

    def _before(self, request: httpx2.Request) -> None:
        for name in list(request.headers):
            if name.lower() not in HEADERS:
                del request.headers[name]
        if self._endpoint.key:
            request.headers["Authorization"] = f"Bearer {self._endpoint.key}"
        request.headers["Accept-Encoding"] = "identity"
        request.extensions["trace"] = self._trace
        if self._over.is_set():
            raise httpx2.RequestError("stopped", request=request)

    def _after(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        packed = "content-encoding" in response.headers
        if isinstance(response.stream, httpx2.SyncByteStream):
            response.stream = _Limited(response.stream, LARGEST_PACKED if packed else LARGEST)

    def _trace(self, event: str, info: dict[str, Any]) -> None:
        """Keeps the sockets of the connection, which only another thread's hand can wake."""
        stream = info.get("return_value")
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")) and stream is not None:
            self._sockets.append(stream.get_extra_info("socket"))
            if self._over.is_set():
                self._wake()

    def _close(self) -> None:
        self._over.set()
        self._wake()

    def _wake(self) -> None:
        for open_socket in list(self._sockets):
            with suppress(OSError):  # closed already
                socket.socket.shutdown(open_socket, socket.SHUT_RDWR)


@cache
def _trusted() -> SSLContext:
    """The certificates that are trusted, read once: that costs 50 ms."""
    return httpx2.create_ssl_context()
