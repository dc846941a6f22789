"""What a model answers that was asked for statements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reviewer.llm.answer_cache import AnswerCache
from reviewer.llm.model import Completion, ModelError


def answer(*statements: dict[str, Any]) -> str:
    return json.dumps({"statements": list(statements)})


def said(text: str, *quotes: tuple[int, str], **more: Any) -> dict[str, Any]:
    """A statement as a model writes it."""
    cited = [{"line": line, "text": words} for line, words in quotes]
    return {
        "statement": text, "kind": "trap",
        "quotes": cited, "confidence": 0.8, **more,
    }  # fmt: skip


BUSY = ModelError("models.example accepts no more requests for now. Wait and try again.")


class NoAnswers(AnswerCache):
    """Keeps no answer."""

    def __init__(self) -> None:
        super().__init__(Path())

    def find(self, key: str) -> None:
        return None

    def keep(self, key: str, answer: Completion) -> None:
        """Forget it."""
