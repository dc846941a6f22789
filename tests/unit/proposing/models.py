"""A model whose answers a test writes beforehand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from reviewer.llm.model import ChatMessage, Completion, JsonSchema, ModelError


class Scripted:
    """Gives its answers in turn, the last one again and again; an exception is raised instead."""

    name = "scripted"

    def __init__(self, *answers: str | Completion | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Sequence[ChatMessage]] = []
        self._lock = threading.Lock()

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
        with self._lock:
            self.asked.append(messages)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer
        return Completion(answer, self.name, 100, 10)


def answer(*statements: dict[str, Any]) -> str:
    return json.dumps({"statements": list(statements)})


def said(text: str, *quotes: tuple[int, str], **more: Any) -> dict[str, Any]:
    """A statement as a model writes it."""
    cited = [{"line": line, "text": words} for line, words in quotes]
    return {
        "statement": text, "kind": "trap", "scope": "project",
        "quotes": cited, "confidence": 0.8, **more,
    }  # fmt: skip


BUSY = ModelError("models.example accepts no more requests for now. Wait and try again.")
