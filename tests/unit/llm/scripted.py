"""A model whose answers a test writes beforehand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from reviewer.llm.model import CancelledError, ChatMessage, Completion, JsonSchema
from reviewer.text.tokens import counter

count = counter().count
Answer = str | Completion | Exception | Callable[[str], str | Exception]


class Scripted:
    """Gives its answers in turn, the last one again and again; an exception is raised instead, and
    a function is asked with the last message.
    """

    name = "scripted"

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[list[ChatMessage]] = []
        self.limits: list[int] = []
        self.cancelled: Callable[[], bool] | None = None
        self._lock = threading.Lock()

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        schema: JsonSchema | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        with self._lock:
            self.asked.append(list(messages))
            self.limits.append(max_tokens)
            self.cancelled = cancelled
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = answer(messages[-1].content)
        if isinstance(answer, Exception):
            raise answer
        if cancelled is not None and cancelled():
            raise CancelledError("stopped")
        if isinstance(answer, Completion):
            return answer
        prompt = sum(count(each.content) for each in messages)
        return Completion(answer, self.name, prompt, count(answer))

    def prompts(self) -> list[str]:
        """The last line of each question."""
        return [messages[-1].content.splitlines()[-1] for messages in self.asked]
