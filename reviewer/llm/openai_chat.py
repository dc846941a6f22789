"""Any OpenAI-compatible endpoint, through the `openai` package: streamed, with cancellation.

A request is a cancellable task, because no data arrives while a model reads a long prompt: a
cancellation must not wait for that, and the server should notice it immediately. Importing this
module imports `openai`, which takes about half a second.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk

from reviewer.llm.chat import POLL, STOPPED, Chat, Question, quoted
from reviewer.llm.endpoint import Endpoint, find_endpoint
from reviewer.llm.model import (
    CancelledError,
    Completion,
    EmptyAnswerError,
    Finish,
    ModelError,
)
from reviewer.settings import ModelSettings
from reviewer.text.controls import well_formed
from reviewer.text.secrets import mask
from reviewer.text.tokens import counter

RETRIES = 2
"""Retries if the endpoint is busy, fails, or cannot be reached.

The `openai` package waits before each, also after a 429: 0.5 to 8 seconds, doubled each time, or
as long as `Retry-After` asks.
"""
LARGEST_ANSWER = 1 << 20
"""Characters of an answer; an endpoint that goes on beyond them ignores the limit."""
CONNECT = 10.0
"""Seconds for connecting."""
HEADERS = frozenset(
    {"host", "accept", "connection", "content-type", "content-length",
     "transfer-encoding", "user-agent"}
)  # fmt: skip
"""The only headers sent: none is added from the environment."""

_FINISH: dict[str, Finish] = {
    "stop": "stop", "length": "length", "content_filter": "filtered", "max_tokens": "length",
}  # fmt: skip

_REFUSABLE = {
    "stream_options": ("stream_options", "include_usage"),
    "max_tokens": ("max_completion_tokens",),
    "temperature": ("temperature",),
    "response_format": ("response_format", "schema", "structured", "grammar"),
}
"""Options that not every endpoint accepts, and the words of a refusal."""


class OpenAIChat(Chat):
    """A `ChatModel` behind an endpoint. Nothing is sent before the first call.

    Raises ModelError if the settings have no usable endpoint.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        environment: Mapping[str, str] = os.environ,
        retries: int = RETRIES,
    ) -> None:
        self._endpoint = find_endpoint(settings, environment)
        self.name = self._endpoint.model
        self._seconds = settings.timeout
        self._retries = retries
        self._refused: set[str] = set()
        """Options refused by the endpoint, omitted or replaced from then on."""

    def _answer(self, asked: Question) -> Completion:
        sent = 0
        while True:
            options = self._options(asked)
            exchange = _Exchange(self._endpoint, self._retries, self._seconds, sent)
            try:
                exchange.carry_out(asked, options)
                exchange.require_whole(asked.max_tokens)
                return exchange.completion(asked)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as problem:
                sent = exchange.sent
                if not self._adapt(problem.message, options):
                    refusal = _explain(problem, self._endpoint)
                    refusal.sent = sent
                    raise refusal from problem
            except ModelError as problem:
                problem.sent = exchange.sent
                problem.tokens_out = counter().count(exchange.text)
                raise

    def _options(self, asked: Question) -> dict[str, Any]:
        options: dict[str, Any] = {
            "max_tokens": asked.max_tokens,
            "temperature": asked.temperature,
            "stream_options": {"include_usage": True},
        }
        if asked.schema is not None:
            shape = {"name": "answer", "strict": True, "schema": asked.schema}
            options["response_format"] = {"type": "json_schema", "json_schema": shape}
        for option in self._refused:
            options.pop(option, None)
        if "max_tokens" in self._refused:
            options["max_completion_tokens"] = asked.max_tokens
        return options

    def _adapt(self, refusal: str, options: Mapping[str, Any]) -> bool:
        """Record the option named in a refusal; False if it names none that was sent."""
        for option, words in _REFUSABLE.items():
            if option in options and any(word in refusal for word in words):
                self._refused.add(option)
                return True
        return False


class _Exchange:
    """A request, and the answer built from the chunks of the response."""

    def __init__(self, endpoint: Endpoint, retries: int, seconds: float, sent: int) -> None:
        self._endpoint = endpoint
        self._retries = retries
        self._seconds = seconds
        self.sent = sent
        """Requests that reached the endpoint, including retries and refused options."""
        self._status: int | None = None
        """The endpoint's latest status, for instance 429."""
        self._content_type = ""
        self._pieces: list[str] = []
        self._length = 0
        self._refusal: list[str] = []
        self._model = ""
        self._usage: tuple[int, int] | None = None
        self._finish: Finish | None = None
        """None until the endpoint reports the end."""
        self._began = False

    @property
    def text(self) -> str:
        """The text, or else the refusal."""
        return well_formed("".join(self._pieces) or "".join(self._refusal))

    def carry_out(self, asked: Question, options: Mapping[str, Any]) -> None:
        """Send the request and read the response. Raises the refusals of a request as they are, and
        any other failure as a ModelError.
        """
        wire = [{"role": one.role, "content": one.content} for one in asked.messages]
        request = {"model": self._endpoint.model, "messages": wire, **options}
        try:
            work = self._listen(request)
            asyncio.run(_until_stopped(work, asked.stop, self._seconds))
        except (TimeoutError, openai.APITimeoutError):
            busy = self._status is not None and self._status >= 400
            status = f" (it answers {self._status})" if busy else ""
            raise ModelError(
                f"The model at {self._endpoint.host} did not answer within {self._seconds:g} "
                f"seconds{status}. Try again, lower concurrency or raise timeout under [model] in "
                "the settings."
            ) from None
        except (openai.BadRequestError, openai.UnprocessableEntityError):
            raise
        except openai.OpenAIError as problem:
            raise _explain(problem, self._endpoint) from problem
        except (ValueError, TypeError, AttributeError, RecursionError) as problem:
            # The client does not validate responses.
            raise _no_chat(self._endpoint) from problem

    async def _listen(self, request: dict[str, Any]) -> None:
        async with self._client() as client:
            stream = await client.chat.completions.create(**request, stream=True)
            self._content_type = stream.response.headers.get("content-type", "")
            async with stream:
                async for chunk in stream:
                    self._add(chunk)

    def _client(self) -> openai.AsyncOpenAI:
        carrier = httpx2.AsyncClient(
            # Through a proxy, "this machine" would not be true.
            trust_env=not self._endpoint.local,
            verify=False if self._endpoint.base_url.startswith("http:") else _trusted(),
            follow_redirects=False,
            timeout=httpx2.Timeout(self._seconds, connect=min(CONNECT, self._seconds)),
            event_hooks={"request": [self._before], "response": [self._after]},
        )
        return openai.AsyncOpenAI(
            base_url=self._endpoint.base_url,
            api_key=self._endpoint.key or "none",
            admin_api_key="",
            http_client=carrier,
            max_retries=self._retries,
        )

    async def _before(self, request: httpx2.Request) -> None:
        for name in list(request.headers):
            if name.lower() not in HEADERS:
                del request.headers[name]
        if self._endpoint.key:
            request.headers["Authorization"] = f"Bearer {self._endpoint.key}"
        request.extensions["trace"] = self._trace

    async def _after(self, response: httpx2.Response) -> None:
        self._status = response.status_code

    async def _trace(self, event: str, info: dict[str, Any]) -> None:
        self.sent += event.endswith(".send_request_body.complete")

    def _add(self, chunk: ChatCompletionChunk) -> None:
        """Add a chunk; a malformed one is skipped."""
        # The client does not validate responses: fields may be missing or have another type.
        model, usage = getattr(chunk, "model", None), getattr(chunk, "usage", None)
        choices = getattr(chunk, "choices", None)
        self._model = well_formed(model) if isinstance(model, str) and model else self._model
        counts = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
        if isinstance(counts[0], int) and isinstance(counts[1], int):
            self._usage = counts[0], counts[1]
        if not isinstance(choices, list) or not choices:
            return
        self._began = True
        delta, finish = (getattr(choices[0], name, None) for name in ("delta", "finish_reason"))
        content, refusal = (getattr(delta, name, None) for name in ("content", "refusal"))
        if isinstance(refusal, str):
            self._refusal.append(refusal)
        if isinstance(finish, str):
            self._finish = _FINISH.get(finish, "stop")
        if not isinstance(content, str):
            return
        self._pieces.append(content)
        self._length += len(content)
        if self._length > LARGEST_ANSWER:
            raise ModelError(
                f"The model at {self._endpoint.host} does not stop at the limit of its answer, and "
                "was cut off. Use another endpoint, or another model."
            )

    def require_whole(self, max_tokens: int) -> None:
        """Raise ModelError for a missing, incomplete or empty answer."""
        endpoint = self._endpoint
        if self._finish is None:
            if not self._began and "event-stream" not in self._content_type:
                raise _no_chat(endpoint)
            raise _broke_off(endpoint)
        if self.text.strip():
            return
        if self._finish == "length":
            raise ModelError(
                f"The model {endpoint.model} used up its {max_tokens} tokens before it "
                "answered. Allow more tokens, or use another model."
            )
        if self._finish == "filtered":
            raise ModelError(
                f"The endpoint {endpoint.host} withheld the answer (content filter). Use another "
                "model or the offline engine."
            )
        raise EmptyAnswerError(f"The model {endpoint.model} gave an empty answer. Try again.")

    def completion(self, asked: Question) -> Completion:
        """The whole answer, with secrets masked that a model may know from elsewhere."""
        only_refused = any(self._refusal) and not any(self._pieces)
        return asked.answered(
            mask(self.text).text,
            self._model or self._endpoint.model,
            self._usage,
            "filtered" if only_refused else self._finish or "stop",
            self.sent,
        )


async def _until_stopped(
    work: Coroutine[Any, Any, None], stop: Callable[[], bool], seconds: float
) -> None:
    """Do the work. Raises CancelledError as soon as `stop` returns True, and TimeoutError; both
    close the connection.
    """
    working = asyncio.create_task(work)
    try:
        async with asyncio.timeout(seconds):
            while not working.done():
                if stop():
                    raise CancelledError(STOPPED)
                await asyncio.wait({working}, timeout=POLL)
        working.result()
    finally:
        if not working.done():
            working.cancel()
            await asyncio.wait({working})


@cache
def _trusted() -> ssl.SSLContext:
    """The trusted certificates, cached because reading them takes 50 ms."""
    return httpx2.create_ssl_context()


def _broke_off(endpoint: Endpoint) -> ModelError:
    return ModelError(
        f"The connection to {endpoint.host} broke off before the answer was whole. Try again."
    )


def _no_chat(endpoint: Endpoint) -> ModelError:
    return ModelError(
        f"The answer of {endpoint.base_url} is not a streamed chat completion. Check base_url "
        "under [model]; it often ends in /v1."
    )


def _explain(problem: openai.OpenAIError, endpoint: Endpoint) -> ModelError:
    """An error of the client as a sentence with advice."""
    match problem:
        case openai.APIConnectionError():
            return _connection(problem, endpoint)
        case openai.APIStatusError():
            return _status(problem, endpoint)
        case openai.APIError():
            words = _words(problem, endpoint)
            return ModelError(f"The model at {endpoint.host} gave up: {words}. Try again.")
    return ModelError(f"The request to {endpoint.host} could not be made: {problem}.")


def _connection(problem: BaseException, endpoint: Endpoint) -> ModelError:
    cause: BaseException | None = problem
    while cause is not None and not (isinstance(cause, OSError) and cause.strerror):
        cause = cause.__cause__ or cause.__context__
    if cause is None or isinstance(cause, ConnectionResetError | BrokenPipeError):
        return _broke_off(endpoint)
    reason = getattr(cause, "reason", None) or cause.strerror
    return ModelError(
        f"{endpoint.base_url} cannot be reached: {reason}. Correct base_url under [model], or start"
        " the server there."
    )


_ADVICE = {
    401: "Put a valid key into the environment variable that key_variable under [model] names.",
    404: "Check name and base_url under [model].",
    413: "The prompt is too long: lower context_tokens under [model].",
    429: "Wait and try again, or lower concurrency under [model].",
}
_ADVICE[403] = _ADVICE[401]


def _status(problem: openai.APIStatusError, endpoint: Endpoint) -> ModelError:
    code, words = problem.status_code, _words(problem, endpoint)
    if code == 400 and "context" in words.lower() and "token" in words.lower():
        code = 413
    if 300 <= code < 400:
        advice = "Redirects are not followed: set base_url under [model] to that address."
    else:
        other = "Try again; its log may say why." if code >= 500 else "Check name under [model]."
        advice = _ADVICE.get(code, other)
    said = f"{problem.status_code}: {words}"
    return ModelError(f"{endpoint.host} refuses to answer for {endpoint.model} ({said}). {advice}")


def _words(problem: openai.APIError, endpoint: Endpoint) -> str:
    """The endpoint's message for quoting, without the key."""
    words = problem.message
    if isinstance(problem.body, dict) and isinstance(problem.body.get("message"), str):
        words = problem.body["message"]
    if endpoint.key:
        # Endpoints echo `sk-pr***9xYz`.
        words = re.sub(rf"{re.escape(endpoint.key[:4])}\S*", "[masked key]", words)
    return quoted(words)
