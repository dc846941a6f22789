"""The base of all chats: masks secrets before sending."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from reviewer.llm.model import ChatMessage, Completion, Finish, JsonSchema
from reviewer.text.clip import clip
from reviewer.text.secrets import mask
from reviewer.text.tokens import counter

POLL = 0.05
"""Seconds between two checks for a cancellation."""
STOPPED = "Stopped before the model had answered."
WORDS_SHOWN = 200
"""Characters of a quoted message."""


def quoted(message: str) -> str:
    """A message of an endpoint or command: short, on one line, secrets masked."""
    return clip(mask(message).text.rstrip(". \n"), WORDS_SHOWN)


class Question(Struct, frozen=True):
    """A question to a model, secrets masked; see `ChatModel.complete`."""

    messages: Sequence[ChatMessage]
    max_tokens: int
    temperature: float
    schema: JsonSchema | None
    stop: Callable[[], bool]

    def answered(
        self,
        text: str,
        model: str,
        usage: tuple[int, int] | None,
        finish: Finish = "stop",
        requests: int = 1,
    ) -> Completion:
        """The answer. `usage`: tokens of prompt and answer; None if they must be counted here."""
        counted_by = "endpoint"
        if usage is None:
            ours = counter()
            counted_by = ours.name
            usage = sum(ours.count(one.content) for one in self.messages), ours.count(text)
        return Completion(text, model, *usage, finish, counted_by, requests)


class Chat:
    """A `ChatModel` without its transport, `_answer`."""

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        schema: JsonSchema | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        """The answer; see `ChatModel.complete`."""
        masked = [ChatMessage(one.role, mask(one.content).text) for one in messages]
        stop = cancelled or (lambda: False)
        return self._answer(Question(masked, max_tokens, temperature, schema, stop))

    def _answer(self, asked: Question) -> Completion:
        raise NotImplementedError
