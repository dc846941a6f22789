"""The base of all chats: masks secrets before sending, and limits concurrent calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from reviewer.llm.model import CancelledError, ChatMessage, Completion, JsonSchema
from reviewer.text.secrets import mask

POLL = 0.05
"""Seconds between two checks for a cancellation."""
STOPPED = "Stopped before the model had answered."
WORDS_SHOWN = 200
"""Characters of a quoted message."""


def quoted(message: str) -> str:
    """A message of an endpoint or command: short, on one line, secrets masked."""
    words = " ".join(mask(message).text.split()).rstrip(".")
    return words if len(words) <= WORDS_SHOWN else words[:WORDS_SHOWN] + "..."


class Chat:
    """A `ChatModel` without its transport, `_answer`."""

    def __init__(self, concurrency: int) -> None:
        self._slots = threading.BoundedSemaphore(concurrency)

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        schema: JsonSchema | None = None,
        cancelled: Callable[[], bool] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """The answer; see `ChatModel.complete`."""
        masked = [ChatMessage(one.role, mask(one.content).text) for one in messages]
        stop = cancelled or (lambda: False)
        with self._slot(stop):
            return self._answer(masked, schema, max_tokens, temperature, stop, on_text)

    def _answer(
        self,
        messages: Sequence[ChatMessage],
        schema: JsonSchema | None,
        max_tokens: int,
        temperature: float,
        stop: Callable[[], bool],
        on_text: Callable[[str], None] | None,
    ) -> Completion:
        raise NotImplementedError

    @contextmanager
    def _slot(self, stop: Callable[[], bool]) -> Iterator[None]:
        while not self._slots.acquire(timeout=POLL):
            if stop():
                raise CancelledError(STOPPED)
        try:
            yield
        finally:
            self._slots.release()
