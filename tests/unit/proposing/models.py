"""What a model answers that was asked for statements."""

from __future__ import annotations

import json
from typing import Any

from reviewer.llm.model import ModelError


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
