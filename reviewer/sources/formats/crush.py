"""Crush, and its Go predecessor "opencode": a database in the project's folder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from reviewer.sources.databases import Connection, capped, column, columns
from reviewer.sources.fields import Fields, each, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.formats.session_tables import (
    MessageRow,
    SessionTables,
    UnreadableRowError,
    stored_json,
)
from reviewer.sources.parts import Part, called, returned, said, thought, typed
from reviewer.sources.reading import silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn

_HARNESS = (
    "`Please analyze this codebase and create a **",
    "Please analyze this codebase and create a ",
)
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}


class _Session(Session, kw_only=True):
    summary: object
    """Id of the message that summarises the session so far."""


def _sessions(database: Connection, path: Path) -> list[_Session]:
    folder = path.parent
    cwd = str(folder.parent) if folder.name in (".crush", ".opencode") else ""
    summary = column(columns(database, "sessions"), "summary_message_id")
    rows = database.execute(
        f"SELECT id, parent_session_id, {summary} FROM sessions ORDER BY created_at, id"
    ).fetchall()
    return [
        _Session(id=words(name), cwd=cwd, subagent=bool(parent), summary=summarized)
        for name, parent, summarized in rows
    ]


def _messages(database: Connection) -> str:
    return (
        f"SELECT id, role, {capped('parts')}, model, created_at FROM messages"
        " WHERE session_id = ? ORDER BY created_at, rowid"
    )


def _turn(session: _Session, row: MessageRow) -> Turn:
    name, role, content, model, created = row.values
    speaker = _ROLES.get(words(role))
    pieces = stored_json(content, row.tally)
    if speaker is None:
        raise UnreadableRowError
    recap = name == session.summary
    parts: list[Part] = []
    for piece in each(pieces):
        parts += _parts(row.tally, speaker, piece, recap)
    key, at = words(name), moment(created)
    return session.turn(row.spot(content), speaker, parts, key=key, at=at, model=words(model))


def _parts(tally: Counter[str], role: Role, piece: Fields, recap: bool) -> list[Part]:
    kind, data = words(piece.get("type")), inner(piece, "data")
    if kind == "text":
        text = words(data.get("text"))
        if recap:
            return said(text, RecordUse.SUMMARY)
        return typed(text, tally, _HARNESS) if role is Role.USER else said(text)
    if kind == "reasoning":
        return thought(data.get("thinking"))
    if kind == "tool_call":
        return called(data.get("name"), data.get("input"), data.get("id"))
    if kind == "tool_result":
        failed = bool(data.get("is_error"))
        result = data.get("content")
        return returned(result, data.get("tool_call_id"), data.get("name"), error=failed)
    silent(tally, kind)
    return []


_TABLES = SessionTables(sessions=_sessions, messages=_messages, turn=_turn)

FORMAT = Format(
    name="crush",
    agent="Crush",
    detect_tables=lambda names: {"sessions", "messages", "files"} <= set(names),
    turns=_TABLES.turns,
    outlines=_TABLES.outlines,
    locations=(
        Location(folder=".crush", pattern="crush.db", in_project=True),
        Location(folder=".opencode", pattern="opencode.db", in_project=True),
    ),
    person="`text` parts of messages with the role `user`",
    left_out="tasks of sub-agents",
    subagent="`parent_session_id`",
    tested="real files of both",
)
