"""Droid (Factory): stored sessions, and the stream of `droid exec`."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.fields import Fields, first, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.parts import Part, called, content_parts, returned, said, speaker
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn


def _is_droid(record: Fields) -> bool:
    kind = record.get("type")
    if kind == "session_start":
        return "id" in record or "session_id" in record
    if "session_id" in record and kind in ("message", "tool_call", "tool_result", "completion"):
        return "message" not in record
    if kind in ("todo_state", "compaction_state"):
        return "id" in record
    message = inner(record, "message")
    return (
        kind == "message"
        and message.get("role") in ("user", "assistant")
        and "id" in record
        and not {"timestamp", "api"} & set(message)
    )


def _turns(reading: Reading) -> Iterator[Turn]:
    session = Session()
    for spot, record in reading.objects():
        kind = words(record.get("type"))
        if kind in ("session_start", "system"):
            session.enter(words(record.get("session_id")) or words(record.get("id")))
            session.learn(record, cwd="cwd", model="model", version="version")
        role, parts = _parts(reading, kind, record)
        if not parts:
            silent(reading.tally, kind)
            continue
        session.enter(words(record.get("session_id")))
        name, at = words(record.get("id")), moment(record.get("timestamp"))
        yield session.turn(spot, role, parts, name=name, at=at)


def _parts(reading: Reading, kind: str, record: Fields) -> tuple[Role, list[Part]]:
    message = inner(record, "message") or record
    call = record.get("toolCallId") or record.get("id")
    if kind == "message":
        role = Role.USER if message.get("role") == "user" else Role.ASSISTANT
        content = message.get("content") if "message" in record else record.get("text")
        parts = content_parts(role, content, reading.tally)
        return speaker(role, parts), parts
    if kind == "tool_call":
        given = first(record, "parameters", "input")
        return Role.ASSISTANT, called(record.get("toolName"), given, call)
    if kind == "tool_result":
        result = first(record, "value", "output", "error")
        return Role.TOOL, returned(result, call, error=bool(record.get("isError")))
    if kind == "compaction_state":
        return Role.ASSISTANT, said(words(record.get("summaryText")), RecordUse.SUMMARY)
    if kind == "completion":
        return Role.ASSISTANT, said(words(record.get("finalText")))
    return Role.SYSTEM, []


FORMAT = Format(
    name="droid",
    agent="Droid",
    detect_record=_is_droid,
    turns=_turns,
    locations=(Location(folder=".factory/sessions", pattern="**/*.jsonl"),),
)
