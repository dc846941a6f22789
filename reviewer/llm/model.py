"""The protocol of models, and its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from reviewer.errors import ReviewerError


class ChatMessage(Struct, frozen=True):
    """One message for a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Completion(Struct, frozen=True):
    """A model's answer. `finish`: stop, length (cut off at the limit), or filtered."""

    text: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    finish: Literal["stop", "length", "filtered"] = "stop"
    counted_by: str = "endpoint"
    """`endpoint`, or the encoding with which the tokens were counted here."""
    requests: int = 1
    """Requests that it took, with those that had to be sent again."""


class ModelError(ReviewerError):
    """The model could not be asked, or did not answer; the message has advice.

    `sent`: requests that had left this machine; `tokens_out`: of what had arrived, counted here.
    """

    sent = 0
    tokens_out = 0


class EmptyAnswerError(ModelError):
    """The model answered nothing; asking again may help."""


class CancelledError(ModelError):
    """The call was cancelled."""


JsonSchema: TypeAlias = Mapping[str, Any]
"""A JSON schema in the subset that endpoints take in strict mode: every property required, no
others allowed."""


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
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        """The answer to `messages`, at most `max_tokens` long; blocks until it is whole.

        `schema`: the shape of the JSON that is wished for; where it cannot be had, the answer is
        whatever the model writes. `on_text` gets each piece as it arrives; `cancelled` is called
        often, also between pieces.
        Raises ModelError when the endpoint fails, CancelledError when `cancelled` returned True.
        """
        ...
