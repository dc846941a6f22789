"""Qwen Code sessions: Claude Code's envelope around Gemini CLI's parts."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.events import Rewind
from reviewer.sources.fields import Fields, each, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.formats.gemini import HARNESS, response_text
from reviewer.sources.parts import Part, called, returned, said, thought, typed
from reviewer.sources.reading import Reading, last_versions, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import Session, Trail, Turn, rewind_at


def _turns(reading: Reading) -> Iterator[Turn | Rewind]:
    trail = Trail()
    for spot, record in last_versions(reading, "uuid"):
        name, kind = words(record.get("uuid")), words(record.get("type"))
        first = trail.follow(name, words(record.get("parentUuid")), spot.line_start)
        if first is not None and record.get("subtype") == "rewind":
            yield rewind_at(spot, first)
        role, parts = _parts(reading, record, kind)
        if not parts:
            silent(reading.tally, record.get("subtype") or kind)
            continue
        session = Session(id=words(record.get("sessionId")))
        session.learn(record, cwd="cwd", branch="gitBranch", model="model", version="version")
        at, apart = moment(record.get("timestamp")), bool(record.get("isSidechain"))
        yield session.turn(spot, role, parts, key=name, at=at, apart=apart)


def _parts(reading: Reading, record: Fields, kind: str) -> tuple[Role, list[Part]]:
    pieces = list(each(inner(record, "message").get("parts")))
    if kind == "user":
        shown = words(inner(record, "systemPayload").get("displayText"))
        texts = (words(piece.get("text")) for piece in pieces if not piece.get("thought"))
        text = shown or "\n".join(texts)
        if record.get("subtype") in ("notification", "cron"):
            return Role.USER, said(text, RecordUse.WRAPPER)
        return Role.USER, typed(text, reading.tally, HARNESS)
    parts: list[Part] = []
    if kind == "assistant":
        for piece in pieces:
            text = words(piece.get("text"))
            parts += thought(text) if piece.get("thought") else said(text)
            if call := inner(piece, "functionCall"):
                parts += called(call.get("name"), call.get("args"), call.get("id"))
    elif kind == "tool_result":
        for piece in pieces:
            if found := inner(piece, "functionResponse"):
                failed = inner(record, "toolCallResult").get("status") == "error"
                result = response_text(piece)
                parts += returned(result, found.get("id"), found.get("name"), error=failed)
        return Role.TOOL, parts
    elif record.get("subtype") == "chat_compression":
        payload = inner(record, "systemPayload")
        summary = words(payload.get("summary")) or part_text(payload.get("compressedHistory"))
        return Role.ASSISTANT, said(summary, RecordUse.SUMMARY)
    return Role.ASSISTANT, parts


def _is_qwen(record: Fields) -> bool:
    has_parts = "parts" in inner(record, "message")
    return "uuid" in record and ("systemPayload" in record or has_parts)


FORMAT = Format(
    name="qwen",
    agent="Qwen Code",
    detect_record=_is_qwen,
    turns=_turns,
    is_log=True,
    locations=(Location(folder=".qwen/projects", pattern="*/chats/*.jsonl", variable="QWEN_HOME"),),
    tested="fixtures, 0.21",
)
