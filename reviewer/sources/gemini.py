"""Gemini CLI sessions: one JSON document, or since spring 2026 a log with one object a line."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.events import Rewind
from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.records import Role, Use
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import (
    SESSION_STATE,
    Document,
    Fields,
    Part,
    Reading,
    Spot,
    Turn,
    called,
    each,
    inner,
    last_versions,
    moment,
    returned,
    rewind_at,
    said,
    thought,
    typed,
    words,
)

HARNESS = ("<hook_context>", "<session_context>", "This is the Gemini CLI.")
_FILES = "--- Content from referenced files ---"
_NOTES = ("info", "error", "warning")


def _turns(reading: Reading) -> Iterator[Turn | Rewind]:
    if reading.document is None:
        yield from _log_turns(reading)
        return
    document = Document(reading)
    named = document.fields(document.root)
    facts = document.plain(named, "messages")
    for spot, message in document.objects(named.get("messages")):
        yield from _message(reading, facts, spot, message)


def _log_turns(reading: Reading) -> Iterator[Turn | Rewind]:
    head: Fields = {}
    lines: dict[str, int] = {}
    for spot, record in last_versions(reading, "id", between="$set"):
        target = words(record.get("$rewindTo"))
        if "$set" in record or target:
            head |= inner(record, "$set")
            reading.tally[SESSION_STATE] += 1
            if target in lines:
                yield rewind_at(spot, lines[target] + 1)
        elif "type" not in record and "sessionId" in record:
            head |= record
            reading.tally[SESSION_STATE] += 1
        else:
            lines[words(record.get("id"))] = spot.line_start
            yield from _message(reading, head, spot, record)


def _message(reading: Reading, head: Fields, spot: Spot, message: Fields) -> Iterator[Turn]:
    kind = words(message.get("type"))
    role = Role.USER if kind == "user" else Role.ASSISTANT
    parts: list[Part] = []
    if kind == "user":
        shown = message.get("displayContent")
        text = _typed_text(message.get("content")) if shown is None else part_text(shown)
        parts = [typed(text, reading.tally, HARNESS)] if text.strip() else []
    elif kind in _NOTES:
        text = part_text(message.get("content"))
        parts = [said(text, Use.WRAPPER)] if text.strip() else []
        role = Role.SYSTEM
    elif kind in ("gemini", "model", "assistant"):
        for idea in each(message.get("thoughts")):
            parts += thought(
                f"{words(idea.get('subject'))}\n{words(idea.get('description'))}".strip()
            )
        text = part_text(message.get("content"))
        parts += [said(text)] if text.strip() else []
        for call in each(message.get("toolCalls")):
            parts += _call(call)
    else:
        reading.tally[f"unknown type: {kind[:40] or '(none)'}"] += 1
        return
    session = words(head.get("sessionId"))
    subagent = head.get("kind") == "subagent"
    name = words(message.get("id"))
    yield Turn(
        spot=spot,
        role=Role.ASSISTANT if subagent and role is Role.USER else role,
        parts=parts,
        key=f"{session}:{name}" if name else "",
        at=moment(message.get("timestamp")),
        session=session or None,
        sidechain=subagent,
        cwd=words(next(iter(_list(head.get("directories"))), "")),
        model=words(message.get("model")),
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _typed_text(content: object) -> str:
    """The typed text; files that the message names follow it as further parts."""
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
    found = [called(call.get("name"), call.get("args"), call.get("id"))]
    status, result = call.get("status"), call.get("result")
    texts = [response_text(part) for part in each(result)]
    text = "\n".join(text for text in texts if text) or part_text(call.get("resultDisplay"))
    if text or status:
        failed = status in ("error", "cancelled")
        found.append(returned(text, call.get("id"), error=failed))
    return found


def response_text(part: Fields) -> str:
    """The text of a `functionResponse` part, or of a part with text."""
    response = inner(part, "functionResponse", "response")
    for name in ("output", "error", "content", "result"):
        if name in response:
            value = response[name]
            return part_text(value) if not isinstance(value, dict) else returned(value).text
    return words(part.get("text")) or (returned(response).text if response else "")


def _is_log(record: Outline) -> bool:
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
    facts=Facts(
        person="`displayContent` of a `user` message, else the first part of its `content`",
        left_out="files that the message names, hook context, `info`, `error` and `warning`",
        folder="not recorded; the folder name is the sha256 of the working folder",
        compaction="not recorded",
        rewind="`$rewindTo` in a log",
        subagent="`kind` is `subagent`",
        tested="real files (JSON); fixtures (log)",
    ),
)  # fmt: skip
