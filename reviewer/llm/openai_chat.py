"""Any OpenAI-compatible endpoint, through the `openai` package: streamed, cancellable, explained.

A request runs in a thread of its own, because no data arrives while a model reads a long prompt: a
cancellation must not wait for that, and the server should notice it immediately. Importing this
module imports `openai`, which takes about half a second.
"""

from __future__ import annotations

import os
import queue
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from typing import Any, Literal

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk

from reviewer.llm.chat import POLL, STOPPED, Chat, quoted
from reviewer.llm.endpoint import Endpoint, find_endpoint
from reviewer.llm.model import (
    CancelledError,
    ChatMessage,
    Completion,
    EmptyAnswerError,
    JsonSchema,
    ModelError,
)
from reviewer.settings import ModelSettings
from reviewer.text.controls import well_formed
from reviewer.text.secrets import mask
from reviewer.text.tokens import counter

RETRIES = 2
"""Attempts after the first when the endpoint is busy, fails, or cannot be reached.

The `openai` package decides how long to wait before each, also after a 429: 0.5 to 8 seconds,
doubled each time, or as long as `Retry-After` asks.
"""


class OpenAIChat(Chat):
    """A `ChatModel` behind an endpoint. Nothing is sent before the first call.

    Raises ModelError when the settings do not name a usable endpoint.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        environment: Mapping[str, str] = os.environ,
        retries: int = RETRIES,
    ) -> None:
        super().__init__(settings.concurrency)
        self._endpoint = find_endpoint(settings, environment)
        self.name = self._endpoint.model
        self._seconds = settings.timeout
        self._retries = retries
        self._refused: set[str] = set()
        """Options that the endpoint refused, and that are left out or replaced from then on."""

    def _answer(
        self,
        messages: Sequence[ChatMessage],
        schema: JsonSchema | None,
        max_tokens: int,
        temperature: float,
        stop: Callable[[], bool],
        on_text: Callable[[str], None] | None,
    ) -> Completion:
        answer = _Answer(messages, max_tokens)
        try:
            while True:
                options = self._options(max_tokens, temperature, schema)
                try:
                    return self._ask(answer, messages, options, stop, on_text)
                except (openai.BadRequestError, openai.UnprocessableEntityError) as problem:
                    if not self._adapt(problem.message, options):
                        raise _explain(problem, self._endpoint, self._seconds) from problem
        except ModelError as problem:
            problem.sent, problem.tokens_out = answer.requests, counter().count(answer.text)
            raise

    def _options(
        self, max_tokens: int, temperature: float, schema: JsonSchema | None
    ) -> dict[str, Any]:
        """The options of a request that not every endpoint takes."""
        limit = "max_completion_tokens" if "max_tokens" in self._refused else "max_tokens"
        options: dict[str, Any] = {limit: max_tokens}
        if "temperature" not in self._refused:
            options["temperature"] = temperature
        if "stream_options" not in self._refused:
            options["stream_options"] = {"include_usage": True}
        if schema is not None and "response_format" not in self._refused:
            shape = {"name": "answer", "strict": True, "schema": schema}
            options["response_format"] = {"type": "json_schema", "json_schema": shape}
        return options

    def _adapt(self, refusal: str, options: Mapping[str, Any]) -> bool:
        """Note the option that a refusal names; False where it names none that was sent."""
        for option, words in (
            ("stream_options", ("stream_options", "include_usage")),
            ("max_tokens", ("max_completion_tokens",)),
            ("temperature", ("temperature",)),
            ("response_format", ("response_format", "schema", "structured", "grammar")),
        ):
            if option in options and any(word in refusal for word in words):
                self._refused.add(option)
                return True
        return False

    def _ask(
        self,
        answer: _Answer,
        messages: Sequence[ChatMessage],
        options: dict[str, Any],
        stop: Callable[[], bool],
        on_text: Callable[[str], None] | None,
    ) -> Completion:
        """One request. Raises what `_adapt` may mend, and everything else as a ModelError."""
        endpoint = self._endpoint
        wire = [{"role": one.role, "content": one.content} for one in messages]
        request = {"model": self.name, "messages": wire, **options}
        exchange = _Exchange(endpoint, request, self._retries)
        try:
            with closing(exchange.chunks(stop, self._seconds)) as chunks:
                for chunk in chunks:
                    piece = answer.add(chunk)
                    if piece and on_text is not None:
                        on_text(piece)
                    if answer.exceeds_limit():
                        break
        except _LateError as late:
            raise _timed_out(endpoint, self._seconds, late.status) from None
        except (openai.BadRequestError, openai.UnprocessableEntityError):
            raise
        except openai.OpenAIError as problem:
            raise _explain(problem, endpoint, self._seconds) from problem
        except _MalformedError as problem:
            raise _no_chat(endpoint) from problem
        finally:
            answer.requests += exchange.sent
        answer.require_whole(endpoint, exchange.content_type)
        return answer.completion(self.name)


CONNECT = 10.0
"""Seconds for a connection to be made."""
LARGEST = 32 << 20
"""Bytes of an answer; three times as many as the longest answers of models have."""
LARGEST_PACKED = LARGEST // 1000
"""Bytes of a compressed answer, which may unpack to a thousand times as many."""
HEADERS = frozenset(
    {"host", "accept", "connection", "content-type", "content-length",
     "transfer-encoding", "user-agent"}
)  # fmt: skip
"""The only headers that are sent, so that none is added from the environment."""


class _MalformedError(Exception):
    """The response is not a stream of chat completion chunks."""


class _LateError(Exception):
    """The timeout is over. `status`: the last one of the endpoint, for instance 429."""

    def __init__(self, status: int | None) -> None:
        super().__init__()
        self.status = status


class _Limited(httpx2.SyncByteStream):
    """A response body that raises _MalformedError once it exceeds a limit."""

    def __init__(self, body: httpx2.SyncByteStream, limit: int) -> None:
        self._body = body
        self._left = limit

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._body:
            self._left -= len(piece)
            if self._left < 0:
                raise _MalformedError
            yield piece

    def close(self) -> None:
        self._body.close()


class _Exchange:
    """One chat completion request and the chunks of its answer."""

    def __init__(self, endpoint: Endpoint, request: dict[str, Any], retries: int) -> None:
        self._endpoint = endpoint
        self._request = request
        self._retries = retries
        self._arrived: queue.SimpleQueue[ChatCompletionChunk | BaseException | None] = (
            queue.SimpleQueue()
        )
        self._over = threading.Event()
        self._sockets: list[socket.socket] = []
        self.sent = 0
        """Requests that the endpoint has got, with those that were tried again."""
        self.status: int | None = None
        self.content_type = ""

    def chunks(
        self, stop: Callable[[], bool], seconds: float
    ) -> Generator[ChatCompletionChunk, None, None]:
        """The chunks of the answer; leaving the iteration closes the connection.

        Raises the client's exceptions, _MalformedError, CancelledError as soon as `stop` returns
        True, and _LateError when the answer is not whole after `seconds`.
        """
        end = time.monotonic() + seconds
        threading.Thread(
            target=self._run, args=(seconds,), name="model exchange", daemon=True
        ).start()
        try:
            while True:
                if stop():
                    raise CancelledError(STOPPED)
                left = end - time.monotonic()
                if left <= 0:
                    raise _LateError(self.status)
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
            # The client parses responses without checking them first.
            malformed = _MalformedError()
            malformed.__cause__ = problem
            self._arrived.put(malformed)
        except Exception as problem:  # raised in the thread that reads the chunks
            self._arrived.put(problem)

    def _client(self, seconds: float) -> openai.OpenAI:
        local = self._endpoint.local
        carrier = httpx2.Client(
            # A proxy would make "this machine" untrue.
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
        """Count the requests, and note the sockets of the connection: shutting one down ends a read
        in the other thread.
        """
        if event.endswith(".send_request_body.complete"):
            self.sent += 1
        stream = info.get("return_value")
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")) and stream is not None:
            self._sockets.append(stream.get_extra_info("socket"))
            if self._over.is_set():
                self._shut_down()

    def _close(self) -> None:
        self._over.set()
        self._shut_down()

    def _shut_down(self) -> None:
        for open_socket in list(self._sockets):
            with suppress(OSError):  # closed already
                socket.socket.shutdown(open_socket, socket.SHUT_RDWR)


@cache
def _trusted() -> ssl.SSLContext:
    """The trusted certificates, read once because that takes 50 ms."""
    return httpx2.create_ssl_context()


TOLERANCE = 2
"""Times the limit that an answer may have by our own count, because encodings differ."""
STEP = 256
"""Characters between two counts of an answer that may exceed its limit."""

Finish = Literal["stop", "length", "filtered"]


class _Answer:
    """An answer that grows from chunks. `finish` is None until the endpoint reports the end."""

    def __init__(self, messages: Sequence[ChatMessage], max_tokens: int) -> None:
        self._messages = messages
        self.max_tokens = max_tokens
        self._pieces: list[str] = []
        self._refusal: list[str] = []
        self._length = 0
        self._count_at = max_tokens * TOLERANCE
        self._model = ""
        self._usage: tuple[int, int] | None = None
        self.finish: Finish | None = None
        self.began = False
        self.requests = 0

    def add(self, chunk: ChatCompletionChunk) -> str:
        """Add a chunk and return its text; a malformed one is skipped."""
        piece = ""
        # The client passes responses on unchecked: fields may be missing or have another type.
        model, usage = getattr(chunk, "model", None), getattr(chunk, "usage", None)
        choices = getattr(chunk, "choices", None)
        self._model = well_formed(model) if isinstance(model, str) and model else self._model
        counts = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
        if isinstance(counts[0], int) and isinstance(counts[1], int):
            self._usage = counts[0], counts[1]
        for choice in choices[:1] if isinstance(choices, list) else ():
            self.began = True
            delta, finish = getattr(choice, "delta", None), getattr(choice, "finish_reason", None)
            content, refusal = getattr(delta, "content", None), getattr(delta, "refusal", None)
            if isinstance(content, str):
                piece = content
            if isinstance(refusal, str) and refusal:
                self._refusal.append(refusal)
            if isinstance(finish, str):
                self.finish = _FINISH.get(finish, "stop")
        if piece:
            self._pieces.append(piece)
            self._length += len(piece)
        return piece

    def exceeds_limit(self) -> bool:
        """Whether the endpoint ignores the limit; the answer then counts as cut off here."""
        if self._length < self._count_at:
            return False
        self._count_at = self._length + STEP
        if counter().count(self.text) <= self.max_tokens * TOLERANCE:
            return False
        self.finish = "length"
        return True

    @property
    def text(self) -> str:
        """The text, or else the refusal."""
        return well_formed("".join(self._pieces) or "".join(self._refusal))

    def completion(self, model: str) -> Completion:
        """The whole answer, with secrets masked that a model may know from elsewhere.

        The tokens are the endpoint's, or counted here where it gives none.
        """
        text = mask(self.text).text
        finish: Finish = self.finish or "stop"
        if self._refusal and not self._pieces:
            finish = "filtered"
        if self._usage is not None:
            return Completion(
                text, self._model or model, *self._usage, finish, requests=self.requests
            )
        ours = counter()
        prompt = sum(ours.count(one.content) for one in self._messages)
        return Completion(
            text,
            self._model or model,
            prompt,
            ours.count(self.text),
            finish,
            ours.name,
            self.requests,
        )

    def require_whole(self, endpoint: Endpoint, content_type: str) -> None:
        """Raise ModelError for an answer that is missing, broke off or is empty."""
        if self.finish is None:
            if not self.began and "event-stream" not in content_type:
                raise _no_chat(endpoint)
            raise _broke_off(endpoint)
        if self.text.strip():
            return
        if self.finish == "length":
            raise ModelError(
                f"The model {endpoint.model} used up its {self.max_tokens} tokens before it said "
                "anything. Allow more tokens, or use another model."
            )
        if self.finish == "filtered":
            raise ModelError(
                f"The endpoint {endpoint.host} withheld the answer (content filter). Use another "
                "model or the offline engine."
            )
        raise EmptyAnswerError(f"The model {endpoint.model} gave an empty answer. Try again.")


_FINISH: dict[str, Finish] = {
    "stop": "stop", "length": "length", "content_filter": "filtered", "max_tokens": "length",
}  # fmt: skip


def _timed_out(endpoint: Endpoint, seconds: float, status: int | None = None) -> ModelError:
    if status is not None and status >= 400:
        return ModelError(
            f"{endpoint.host} answered {status} until the timeout of {seconds:g} seconds was over. "
            "Wait and try again, or lower concurrency under [model]."
        )
    return ModelError(
        f"The model at {endpoint.host} did not answer within {seconds:g} seconds. Try again, or "
        "raise timeout under [model] in the settings."
    )


def _broke_off(endpoint: Endpoint) -> ModelError:
    return ModelError(
        f"The connection to {endpoint.host} broke off before the answer was whole. Try again."
    )


def _no_chat(endpoint: Endpoint) -> ModelError:
    return ModelError(
        f"What {endpoint.base_url} answers is not a streamed chat completion. Check base_url under "
        "[model]; it often ends in /v1."
    )


def _explain(problem: openai.OpenAIError, endpoint: Endpoint, seconds: float) -> ModelError:
    """An error of the client as a sentence with advice."""
    match problem:
        case openai.APITimeoutError():
            return _timed_out(endpoint, seconds)
        case openai.APIConnectionError():
            return _connection(problem, endpoint)
        case openai.APIStatusError():
            return _status(problem, endpoint)
        case openai.APIError():
            words = _words(problem, endpoint)
            return ModelError(f"The model at {endpoint.host} gave up: {words}. Try again.")
    return ModelError(f"The request to {endpoint.host} could not be made: {problem}.")


def _connection(problem: openai.APIConnectionError, endpoint: Endpoint) -> ModelError:
    causes: list[BaseException] = []
    cause: BaseException | None = problem
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    for cause in causes:
        match cause:
            case socket.gaierror():
                return ModelError(
                    f"The host {endpoint.host} is not known. Check base_url under [model] in the "
                    "settings, and the network."
                )
            case ssl.SSLError():
                return ModelError(
                    f"No trusted connection to {endpoint.host} is possible: "
                    f"{cause.reason or 'the TLS handshake failed'}. Check base_url under [model]."
                )
            case ConnectionRefusedError():
                return ModelError(
                    f"No server answers at {endpoint.base_url}. Start the server there (reviewer "
                    "model serve starts a small local one), or correct base_url under [model]."
                )
            case OSError() if cause.strerror and not isinstance(cause, ConnectionError):
                return ModelError(
                    f"{endpoint.host} cannot be reached: {cause.strerror}. Check base_url under "
                    "[model] in the settings, and the network."
                )
    return _broke_off(endpoint)


def _status(problem: openai.APIStatusError, endpoint: Endpoint) -> ModelError:
    code, host, words = problem.status_code, endpoint.host, _words(problem, endpoint)
    if code in (401, 403):
        if endpoint.key_variable:
            what = f"Put a valid key into the environment variable {endpoint.key_variable}."
        else:
            what = "Name the environment variable of its key as key_variable under [model]."
        return ModelError(f"{host} refuses the key ({code}: {words}). {what}")
    if code == 404:
        return ModelError(
            f"{host} does not have the model {endpoint.model} at this address ({code}: {words}). "
            "Check name and base_url under [model]."
        )
    if code == 429:
        return ModelError(
            f"{host} accepts no more requests for now ({code}: {words}). Wait and try again, or "
            "lower concurrency under [model]."
        )
    if code >= 500:
        return ModelError(f"{host} failed ({code}: {words}). Try again; its log may say why.")
    if 300 <= code < 400:
        return ModelError(
            f"{host} redirects to another address ({code}), which is not followed. Set "
            "base_url under [model] to that address."
        )
    if code == 413 or ("context" in words.lower() and "token" in words.lower()):
        return ModelError(
            f"The prompt is too long for {endpoint.model} ({code}: {words}). Lower context_tokens "
            "under [model], or use a model with a larger context."
        )
    return ModelError(f"{host} refuses the request ({code}: {words}). Check name under [model].")


_SHOWN_OF_A_KEY = 4
"""Characters of a key from which on they are masked: endpoints echo `sk-pr***9xYz`."""


def _without_key(words: str, key: str) -> str:
    """The words without the key and without its beginning or end."""
    words = words.replace(key, "[masked key]")
    start, end = key[:_SHOWN_OF_A_KEY], key[-_SHOWN_OF_A_KEY:]

    def is_of_the_key(word: str) -> bool:
        parts = re.split(r"[*.\u2026\u2022]+", word)
        return any(
            len(part) >= _SHOWN_OF_A_KEY
            and part in key
            and (part.startswith(start) or part.endswith(end))
            for part in parts
        )

    return re.sub(
        r"[^\s'\"`,;:()\[\]<>]{4,}",
        lambda word: "[masked key]" if is_of_the_key(word[0].rstrip(".")) else word[0],
        words,
    )


def _words(problem: openai.APIError, endpoint: Endpoint) -> str:
    """The endpoint's message as it is quoted, without the key."""
    words = problem.message
    if isinstance(problem.body, dict) and isinstance(problem.body.get("message"), str):
        words = problem.body["message"]
    if endpoint.key:
        words = _without_key(words, endpoint.key)
    return quoted(words)
