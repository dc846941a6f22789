"""Content in the form of Anthropic's messages, which several agents store."""

from __future__ import annotations

from collections import Counter

from reviewer.sources.records import Role, Use
from reviewer.sources.turns import Part, called, each, returned, said, thought, typed, words


def message_parts(
    role: Role, content: object, tally: Counter[str], harness: tuple[str, ...] = ()
) -> list[Part]:
    """The parts of a message: a text, or a list of blocks."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    parts: list[Part] = []
    for piece in each(content):
        kind, text = piece.get("type"), words(piece.get("text"))
        if kind in ("text", "input_text", "output_text") and text.strip():
            parts.append(typed(text, tally, harness) if role is Role.USER else said(text))
        elif kind == "thinking":
            parts += thought(piece.get("thinking"))
        elif kind == "tool_use":
            parts.append(called(piece.get("name"), piece.get("input"), piece.get("id")))
        elif kind == "tool_result":
            failed = bool(piece.get("is_error"))
            parts.append(returned(piece.get("content"), piece.get("tool_use_id"), error=failed))
        elif kind in ("image", "document"):
            parts.append(said(f"[{kind}]", Use.WRAPPER))
    return parts


def speaker(role: Role, parts: list[Part]) -> Role:
    """Results of tools have the person's role; they are the tool's."""
    if role is Role.USER and parts and all(part.kind == "tool_result" for part in parts):
        return Role.TOOL
    return role
