"""An answer as it grows out of the chunks of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from reviewer.llm.model import ChatMessage, Completion
from reviewer.text.secrets import mask
from reviewer.text.tokens import counter

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

TOLERANCE = 2
"""Times the limit that an answer may have by our own count: encodings differ."""
STEP = 256
"""Characters between two counts of an answer that is long for its limit."""

Finish = Literal["stop", "length", "filtered"]


class Answer:
    """What has arrived. `finish` stays None until the endpoint said that the answer is whole."""

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

    def take(self, chunk: ChatCompletionChunk) -> str:
        """Add a chunk; the text in it. What is no chunk of a chat adds nothing."""
        piece = ""
        # The client hands on what it was sent; a field may be missing or be something else.
        model, usage = getattr(chunk, "model", None), getattr(chunk, "usage", None)
        choices = getattr(chunk, "choices", None)
        self._model = model if isinstance(model, str) and model else self._model
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

    def runs_on(self) -> bool:
        """Whether the endpoint ignores the limit; the answer then ends here, as cut off."""
        if self._length < self._count_at:
            return False
        self._count_at = self._length + STEP
        if counter().count(self.text) <= self.max_tokens * TOLERANCE:
            return False
        self.finish = "length"
        return True

    @property
    def text(self) -> str:
        """What was said; a refusal, when that is all that was said."""
        return "".join(self._pieces) or "".join(self._refusal)

    def completion(self, model: str) -> Completion:
        """The whole answer, its secrets masked: a model may know some that it was never told.

        The tokens are the endpoint's, or counted here where it told none.
        """
        text = mask(self.text).text
        finish: Finish = self.finish or "stop"
        if self._refusal and not self._pieces:
            finish = "filtered"
        if self._usage is not None:
            prompt, said = self._usage
            return Completion(text, self._model or model, prompt, said, finish)
        ours = counter()
        prompt = sum(ours.count(one.content) for one in self._messages)
        return Completion(
            text, self._model or model, prompt, ours.count(self.text), finish, ours.name
        )


_FINISH: dict[str, Finish] = {
    "stop": "stop", "length": "length", "content_filter": "filtered", "max_tokens": "length",
}  # fmt: skip
