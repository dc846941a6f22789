"""Gemini CLI sessions: one JSON document or, since spring 2026, a log with one object per line."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.document import Document
from reviewer.sources.events import Rewind
from reviewer.sources.fields import Fields, each, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.parts import Part, called, object_text, returned, said, thought, typed
from reviewer.sources.reading import Reading, Spot, last_versions, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import Session, Turn, rewind_at

HARNESS = ("<hook_context>", "<session_context>", "This is the Gemini CLI.")
_FILES = "--- Content from referenced files ---"
_OPENING, _CLOSING = "<untrusted_context>\n", "\n</untrusted_context>"
"""Around a result since summer 2026."""
_NOTES = ("info", "error", "warning")


def _turns(reading: Reading) -> Iterator[Turn | Rewind]:
    if reading.document is None:
        yield from _log_turns(reading)
        return
    facts, messages = Document(reading).parted("messages")
    for spot, message in messages:
        yield from _message(reading, facts, spot, message)


def _log_turns(reading: Reading) -> Iterator[Turn | Rewind]:
    head: Fields = {}
    lines: dict[str, int] = {}
    for spot, record in last_versions(reading, "id", between="$set"):
        target = words(record.get("$rewindTo"))
        if "$set" in record or target:
            head |= inner(record, "$set")
            silent(reading.tally, "session")
            if target in lines:
                yield rewind_at(spot, lines[target] + 1)
        elif "type" not in record and "sessionId" in record:
            head |= record
            silent(reading.tally, "session")
        else:
            lines[words(record.get("id"))] = spot.line_start
            yield from _message(reading, head, spot, record)


def _message(reading: Reading, head: Fields, spot: Spot, message: Fields) -> Iterator[Turn]:
    kind = words(message.get("type"))
    text = part_text(message.get("content"))
    if kind == "user":
        shown = message.get("displayContent")
        text = _typed_text(message.get("content")) if shown is None else part_text(shown)
        role, parts = Role.USER, typed(text, reading.tally, HARNESS)
    elif kind in _NOTES:
        role, parts = Role.SYSTEM, said(text, RecordUse.WRAPPER)
    elif kind in ("gemini", "model", "assistant"):
        role, parts = Role.ASSISTANT, list[Part]()
        for idea in each(message.get("thoughts")):
            subject, description = words(idea.get("subject")), words(idea.get("description"))
            parts += thought(f"{subject}\n{description}".strip())
        parts += said(text)
        for call in each(message.get("toolCalls")):
            parts += _call(call)
    else:
        silent(reading.tally, kind)
        return
    folders = head.get("directories")
    session = Session(
        id=words(head.get("sessionId")),
        cwd=words(next(iter(folders), "")) if isinstance(folders, list) else "",
        model=words(message.get("model")),
        subagent=head.get("kind") == "subagent",
    )
    name, at = words(message.get("id")), moment(message.get("timestamp"))
    yield session.turn(spot, role, parts, name=name, at=at)


def _typed_text(content: object) -> str:
    """The typed text; files referenced in the message follow it as further parts."""
    if not isinstance(content, list):
        return part_text(content)
    texts: list[str] = []
    for item in content:
        text = item if isinstance(item, str) else words(inner(item).get("text"))
        if _FILES in text:
            break
        texts.append(text)
    return "\n".join(text for text in texts if text.strip())


def _call(call: Fields) -> list[Part]:
    found = called(call.get("name"), call.get("args"), call.get("id"))
    status, result = call.get("status"), call.get("result")
    texts = [response_text(part) for part in each(result)]
    text = "\n".join(text for text in texts if text) or part_text(call.get("resultDisplay"))
    if text.startswith(_OPENING):  # followed by hook output
        text = text.removeprefix(_OPENING).partition(_CLOSING)[0]
    if text or status:
        found += returned(text, call.get("id"), error=status in ("error", "cancelled"))
    return found


def response_text(part: Fields) -> str:
    """The text of a `functionResponse` or text part."""
    response = inner(part, "functionResponse", "response")
    for name in ("output", "error", "content", "result"):
        if name in response:
            return object_text(response[name])
    return words(part.get("text")) or (object_text(response) if response else "")


def _is_log(record: Fields) -> bool:
    if "projectHash" in record and "sessionId" in record:
        return True
    if "$set" in record or "$rewindTo" in record:
        return True
    kind = record.get("type")
    return kind == "gemini" or (
        kind in ("user", *_NOTES)
        and all(name in record for name in ("id", "timestamp", "content"))
        and "uuid" not in record
    )


FORMAT = Format(
    name="gemini",
    agent="Gemini CLI",
    detect_record=_is_log,
    detect_document=lambda d: (
        "messages" in d and ("projectHash" in d or d.get("kind") in ("chat", "main", "subagent"))
    ),
    turns=_turns,
    is_log=True,
    locations=(
        Location(folder=".gemini/tmp", pattern="*/chats/*.json", variable="GEMINI_CLI_HOME",
                 moves=""),
        Location(folder=".gemini/tmp", pattern="*/chats/*.jsonl", variable="GEMINI_CLI_HOME",
                 moves=""),
    ),
    tested="real files (JSON); fixtures (log)",
)  # fmt: skip
