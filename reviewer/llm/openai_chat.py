"""Any OpenAI-compatible endpoint, through the `openai` package."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from reviewer.llm.answer import Answer
from reviewer.llm.dialect import Dialect
from reviewer.llm.endpoint import find_endpoint
from reviewer.llm.model import CancelledError, ChatMessage, Completion
from reviewer.settings import ModelSettings
from reviewer.text.secrets import mask

RETRIES = 2
"""Attempts after the first when the endpoint is busy, fails, or cannot be reached."""
POLL = 0.05
"""Seconds between two looks at whether to stop, while other calls are under way."""
STOPPED = "Stopped before the model had answered."


class OpenAIChat:
    """A `ChatModel` behind an endpoint. Nothing is imported or sent before the first call.

    Raises ModelError when the settings name no endpoint that may be used.
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
        self._slots = threading.BoundedSemaphore(settings.concurrency)
        self._dialect = Dialect()

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        cancelled: Callable[[], bool] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """The answer, as `ChatModel.complete` says. Secrets in `messages` are masked first.

        ValueError for no messages or a limit below 1.
        """
        if not messages or max_tokens < 1:
            raise ValueError("there must be a message, and room for an answer")
        masked = [ChatMessage(one.role, mask(one.content).text) for one in messages]
        stop = cancelled or (lambda: False)
        with self._slot(stop):
            while True:
                options = self._dialect.options(max_tokens, temperature)
                answer = self._ask(masked, max_tokens, options, stop, on_text)
                if answer is not None:
                    return answer

    @contextmanager
    def _slot(self, stop: Callable[[], bool]) -> Iterator[None]:
        while not self._slots.acquire(timeout=POLL):
            if stop():
                raise CancelledError(STOPPED)
        try:
            yield
        finally:
            self._slots.release()

    def _ask(
        self,
        messages: Sequence[ChatMessage],
        max_tokens: int,
        options: dict[str, Any],
        stop: Callable[[], bool],
        on_text: Callable[[str], None] | None,
    ) -> Completion | None:
        """One request; None when the endpoint wants it worded as the dialect now says."""
        import openai

        from reviewer.llm import exchange, failures

        endpoint, answer = self._endpoint, Answer(messages, max_tokens)
        wire = [{"role": one.role, "content": one.content} for one in messages]
        request = {"model": self.name, "messages": wire, **options}
        asked = exchange.Exchange(endpoint, request, self._retries)
        try:
            with closing(asked.chunks(stop, self._seconds)) as chunks:
                for chunk in chunks:
                    piece = answer.take(chunk)
                    if piece and on_text is not None:
                        on_text(piece)
                    if answer.runs_on():
                        break
        except exchange.StoppedError:
            raise CancelledError(STOPPED) from None
        except exchange.LateError as late:
            raise failures.timed_out(endpoint, self._seconds, late.status) from None
        except openai.OpenAIError as problem:
            other = (
                self._dialect.after(problem.message, options)
                if isinstance(problem, openai.BadRequestError)
                else None
            )
            if other is not None:
                self._dialect = other
                return None
            raise failures.explain(problem, endpoint, self._seconds) from problem
        except exchange.MalformedError as problem:
            raise failures.no_chat(endpoint) from problem
        failures.require_whole(answer, endpoint, asked.content_type)
        return answer.completion(self.name)
