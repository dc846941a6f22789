"""The parts of a turn: texts, thoughts, tool calls and their results.

Blank content is not a part, so each function here returns a list.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

import msgspec
from msgspec import Struct, structs

from reviewer.sources.claude_words import classify
from reviewer.sources.fields import Fields, each, first, inner, words
from reviewer.sources.reading import silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.tool_text import input_text, part_text

_TEXTS = ("text", "input_text", "output_text")
_THOUGHTS = ("thinking", "reasoning")
_CALLS = ("tool_use", "toolCall", "tool-call")
_RESULTS = ("tool_result", "tool-result")
_NAMES, _INPUTS = ("name", "toolName"), ("input", "arguments", "args")
_IDS = ("id", "toolCallId", "tool_use_id")
_ANSWERED = ("toolCallId", "tool_use_id", "tool_call_id")
PartKind = Literal["text", "thinking", "tool_use", "tool_result"]
ROLES = {
    **dict.fromkeys(["user", "human"], Role.USER),
    **dict.fromkeys(["assistant", "gpt", "model", "chatgpt", "bing", "bard"], Role.ASSISTANT),
    **dict.fromkeys(["system", "developer"], Role.SYSTEM),
    **dict.fromkeys(["tool", "function"], Role.TOOL),
    "claude": Role.ASSISTANT,
}
"""The names of roles in various formats."""


class Part(Struct, frozen=True, gc=False):
    """One block of a turn. Without a `use`, its kind and the turn's role decide."""

    kind: PartKind
    text: str
    use: RecordUse | None = None
    name: str = ""
    call: str = ""
    error: bool = False
    code: int | None = None
    """The exit code, if the format stores it separately."""
    feedback: str = ""
    """The person's text when refusing the call."""
    is_data: bool = False
    """A picture or document; `text` has only its name."""
    given: Fields | None = None
    """The arguments of a call; `text` may be the command alone."""


def said(text: str, use: RecordUse | None = None) -> list[Part]:
    return [Part("text", text, use)] if text.strip() else []


def typed(text: str, tally: Counter[str], harness: tuple[str, ...] = ()) -> list[Part]:
    """Text with the person's role: theirs, or inserted by the agent.

    `harness`: prefixes of this agent's texts that nobody typed.
    """
    if not text.strip():
        return []
    if harness and text.lstrip().startswith(harness):
        return [Part("text", text, RecordUse.BOOT)]
    use, clean, cuts = classify(text)
    for reason, count in cuts.items():
        tally[f"{reason} cut out"] += count
    return [Part("text", clean, use)]


def spoken(role: Role, text: str, tally: Counter[str], harness: tuple[str, ...] = ()) -> list[Part]:
    """Text of a turn: typed, if it has the person's role."""
    return typed(text, tally, harness) if role is Role.USER else said(text)


def thought(text: object) -> list[Part]:
    """An agent's thought; empty if unreadable."""
    return [Part("thinking", text)] if isinstance(text, str) and text.strip() else []


def used_as(use: RecordUse, parts: list[Part]) -> list[Part]:
    """The parts, with this use of their texts."""
    return [structs.replace(part, use=use) if part.kind == "text" else part for part in parts]


def called(name: object, given: object, call: object = "") -> list[Part]:
    """A tool call. `given` may be JSON in a string."""
    text = given if isinstance(given, str) else ""
    if isinstance(given, str):
        try:
            inside: object = msgspec.json.decode(given)
        except (ValueError, RecursionError):
            inside = None
        given = inside if isinstance(inside, (dict, list)) else None
    if given is not None:
        text = input_text(given)
    known = given if isinstance(given, dict) else None
    return [Part("tool_use", text, name=words(name), call=words(call), given=known)]


def returned(
    result: object,
    call: object = "",
    name: object = "",
    *,
    error: bool = False,
    code: object = None,
) -> list[Part]:
    """The result of a tool call: a string, a list of parts, or an object."""
    known = code if isinstance(code, int) and not isinstance(code, bool) else None
    text, its, tool = object_text(result), words(call), words(name)
    return [Part("tool_result", text, name=tool, call=its, error=error, code=known)]


def object_text(value: object) -> str:
    """The text of a result object; if it has none, the object as JSON."""
    if isinstance(value, dict) and "text" not in value and "content" not in value:
        return msgspec.json.encode(value).decode("utf-8", "replace")
    return part_text(value)


def content_parts(
    role: Role,
    content: object,
    tally: Counter[str],
    harness: tuple[str, ...] = (),
    *,
    data: bool = True,
) -> list[Part]:
    """The parts of a message's content: a text, or a list of blocks as in Anthropic's API, with the
    field names of various agents. `data`: include names of pictures and documents.
    """
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    parts: list[Part] = []
    for piece in each(content):
        kind, text = words(piece.get("type")), words(piece.get("text"))
        if kind in _TEXTS:
            parts += spoken(role, text, tally, harness)
        elif kind in _THOUGHTS:
            parts += thought(piece.get("thinking", text))
        elif kind in _CALLS:
            parts += called(first(piece, *_NAMES), first(piece, *_INPUTS), first(piece, *_IDS))
        elif kind in _RESULTS:
            parts += returned(
                first(piece, "content", "result"),
                first(piece, *_ANSWERED),
                first(piece, *_NAMES),
                error=bool(first(piece, "is_error", "isError")),
            )
        elif kind in ("image", "document") and data:
            parts.append(Part("text", f"[{kind}]", RecordUse.WRAPPER, is_data=True))
        else:
            silent(tally, kind)
    return parts


def function_calls(calls: object) -> list[Part]:
    """The calls of a message, in OpenAI API format or flat."""
    parts: list[Part] = []
    for call in each(calls):
        function = inner(call, "function") or call
        parts += called(function.get("name"), first(function, *_INPUTS), call.get("id"))
    return parts


def speaker(role: Role, parts: list[Part]) -> Role:
    """The real role: tool results have the person's role but are the tool's."""
    if role is Role.USER and parts and all(part.kind == "tool_result" for part in parts):
        return Role.TOOL
    return role
