"""The protocol of models, and its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from reviewer.errors import ReviewerError


class ChatMessage(Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    content: str


Finish = Literal["stop", "length", "filtered"]


class Completion(Struct, frozen=True):
    """A model's answer. `finish`: stop, length (cut off at the limit), or filtered."""

    text: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    finish: Finish = "stop"
    counted_by: str = "endpoint"
    """`endpoint`, or the encoding used to count the tokens here."""
    requests: int = 1
    """Requests for it, including retries."""


class ModelError(ReviewerError):
    """The model could not be called, or did not answer; the message has advice.

    `sent`: requests that left this machine; `tokens_out`: tokens that arrived, counted here.
    """

    sent = 0
    tokens_out = 0


class EmptyAnswerError(ModelError):
    """The model's answer was empty; a retry may help."""


class CancelledError(ModelError):
    """The call was cancelled."""


JsonSchema: TypeAlias = Mapping[str, Any]
"""A JSON schema in the subset of endpoints' strict mode: every property required, no others
allowed."""


class ChatModel(Protocol):
    """A model; safe to call from several threads."""

    name: str

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        schema: JsonSchema | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        """The answer to `messages`, at most `max_tokens` long; blocks until it is complete.

        `schema`: the requested shape of the JSON; not every model honours it. `cancelled` is
        called often.
        Raises ModelError if the endpoint fails, CancelledError if `cancelled` returned True.
        """
        ...
