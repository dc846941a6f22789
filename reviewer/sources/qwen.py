"""Qwen Code sessions: an envelope like that of Claude Code around the parts of Gemini CLI."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.events import Rewind
from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.gemini import HARNESS, response_text
from reviewer.sources.records import Role, Use
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import (
    Fields,
    Part,
    Reading,
    Trail,
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


def _turns(reading: Reading) -> Iterator[Turn | Rewind]:
    trail = Trail()
    for spot, record in last_versions(reading, "uuid"):
        name, kind = words(record.get("uuid")), words(record.get("type"))
        first = trail.follow(name, words(record.get("parentUuid")), spot.line_start)
        if first is not None and record.get("subtype") == "rewind":
            yield rewind_at(spot, first)
        role, parts = _parts(reading, record, kind)
        if not parts:
            subtype = words(record.get("subtype")) or kind or "(none)"
            reading.tally[subtype.replace("_", " ")[:40]] += 1
            continue
        yield Turn(
            spot=spot,
            role=role,
            parts=parts,
            key=name,
            at=moment(record.get("timestamp")),
            session=words(record.get("sessionId")) or None,
            parent=words(record.get("parentUuid")) or None,
            sidechain=bool(record.get("isSidechain")),
            cwd=words(record.get("cwd")),
            branch=words(record.get("gitBranch")),
            model=words(record.get("model")),
            version=words(record.get("version")),
        )


def _parts(reading: Reading, record: Fields, kind: str) -> tuple[Role, list[Part]]:
    pieces = list(each(inner(record, "message").get("parts")))
    text = "\n".join(words(piece.get("text")) for piece in pieces if not piece.get("thought"))
    if kind == "user":
        shown = words(inner(record, "systemPayload").get("displayText"))
        if record.get("subtype") in ("notification", "cron"):
            return Role.USER, [said(shown or text, Use.WRAPPER)] if (shown or text) else []
        return Role.USER, [typed(shown or text, reading.tally, HARNESS)] if shown or text else []
    parts: list[Part] = []
    if kind == "assistant":
        for piece in pieces:
            if piece.get("thought"):
                parts += thought(piece.get("text"))
            elif words(piece.get("text")).strip():
                parts.append(said(words(piece.get("text"))))
            if call := inner(piece, "functionCall"):
                parts.append(called(call.get("name"), call.get("args"), call.get("id")))
    elif kind == "tool_result":
        for piece in pieces:
            if found := inner(piece, "functionResponse"):
                failed = inner(record, "toolCallResult").get("status") == "error"
                result = response_text(piece)
                parts.append(returned(result, found.get("id"), found.get("name"), error=failed))
        return Role.TOOL, parts
    elif record.get("subtype") == "chat_compression":
        payload = inner(record, "systemPayload")
        summary = words(payload.get("summary")) or part_text(payload.get("compressedHistory"))
        return Role.ASSISTANT, [said(summary, Use.SUMMARY)] if summary.strip() else []
    return Role.ASSISTANT, parts


def _is_qwen(record: Outline) -> bool:
    message = record.get("message")
    parts = isinstance(message, dict) and "parts" in message
    return "uuid" in record and ("systemPayload" in record or parts)


FORMAT = Format(
    name="qwen",
    agent="Qwen Code",
    detect_record=_is_qwen,
    turns=_turns,
    is_log=True,
    locations=(
        Location(
            folder=".qwen/projects", pattern="*/chats/*.jsonl", variable="QWEN_HOME", moves=".qwen"
        ),
    ),
    facts=Facts(
        person="`user`, as `systemPayload.displayText` where there is one",
        left_out="notifications, telemetry, titles, snapshots",
        folder="`cwd` and `gitBranch` of each record",
        compaction="`chat_compression`",
        rewind="`rewind`, with its parent",
        subagent="`isSidechain`",
        tested="fixtures, 0.21",
    ),
)
