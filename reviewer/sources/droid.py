"""Droid (Factory) sessions: the store of sessions, and the stream of `droid exec`."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.anthropic_parts import message_parts, speaker
from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.records import Role, Use
from reviewer.sources.turns import (
    RECORDED_TWICE,
    SESSION_STATE,
    Fields,
    Part,
    Reading,
    Turn,
    called,
    inner,
    moment,
    returned,
    said,
    typed,
    words,
)


def _is_droid(record: Outline) -> bool:
    kind = record.get("type")
    if kind == "session_start":
        return "id" in record or "session_id" in record
    if "session_id" in record and kind in ("message", "tool_call", "tool_result", "completion"):
        return "message" not in record
    if kind in ("todo_state", "compaction_state"):
        return "id" in record
    message = record.get("message")
    return (
        kind == "message"
        and isinstance(message, dict)
        and message.get("role") in ("user", "assistant")
        and "id" in record
        and not {"timestamp", "api"} & set(message)
    )


def _turns(reading: Reading) -> Iterator[Turn]:
    session = cwd = model = version = ""
    for spot, record in reading.objects():
        kind = words(record.get("type"))
        if kind in ("session_start", "system"):
            session = words(record.get("session_id")) or words(record.get("id")) or session
            cwd, model = words(record.get("cwd")) or cwd, words(record.get("model")) or model
            version = words(record.get("version")) or version
        role, parts = _parts(reading, kind, record)
        if not parts:
            reading.tally[RECORDED_TWICE if kind == "completion" else SESSION_STATE] += 1
            continue
        name = words(record.get("id"))
        named = words(record.get("session_id")) or session
        yield Turn(
            spot=spot,
            role=role,
            parts=parts,
            key=f"{named}:{name}" if name else "",
            at=moment(record.get("timestamp")),
            session=named or None,
            parent=words(record.get("parentId")) or None,
            cwd=cwd,
            model=model,
            version=version,
        )


def _parts(reading: Reading, kind: str, record: Fields) -> tuple[Role, list[Part]]:
    message = inner(record, "message")
    if kind == "message" and message:
        role = Role.USER if message.get("role") == "user" else Role.ASSISTANT
        parts = message_parts(role, message.get("content"), reading.tally)
        return speaker(role, parts), parts
    text = words(record.get("text"))
    if kind == "message" and text.strip():
        person = record.get("role") == "user"
        return (Role.USER, [typed(text, reading.tally)]) if person else (
            Role.ASSISTANT, [said(text)],
        )  # fmt: skip
    call = record.get("toolCallId") or record.get("id")
    if kind == "tool_call":
        given = record.get("parameters", record.get("input"))
        return Role.ASSISTANT, [called(record.get("toolName"), given, call)]
    if kind == "tool_result":
        failed = bool(record.get("isError"))
        result = record.get("value", record.get("output", record.get("error")))
        return Role.TOOL, [returned(result, call, error=failed)]
    if kind == "compaction_state":
        summary = words(record.get("summaryText"))
        return Role.ASSISTANT, [said(summary, Use.SUMMARY)] if summary.strip() else []
    if kind == "completion" and words(record.get("finalText")).strip():
        return Role.ASSISTANT, [said(words(record.get("finalText")))]
    return Role.SYSTEM, []


FORMAT = Format(
    name="droid",
    agent="Droid",
    detect_record=_is_droid,
    turns=_turns,
    locations=(Location(folder=".factory/sessions", pattern="**/*.jsonl"),),
    facts=Facts(
        person="messages with the role `user` and text",
        left_out="system reminders, results of tools",
        folder="`cwd` of `session_start`",
        compaction="`compaction_state.summaryText`",
        tested="fixtures",
    ),
)
