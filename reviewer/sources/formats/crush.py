"""Crush, and its Go predecessor "opencode": a database in the project's folder."""

from __future__ import annotations

from pathlib import Path

from reviewer.sources.databases import Connection, capped, column, columns
from reviewer.sources.fields import Fields, each, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.formats.session_tables import (
    MessageRow,
    SessionTables,
    stored_json,
)
from reviewer.sources.parts import ROLES, content_parts, used_as
from reviewer.sources.records import RecordUse
from reviewer.sources.turns import Session, Turn

_HARNESS = (
    "`Please analyze this codebase and create a **",
    "Please analyze this codebase and create a ",
)


class _Session(Session, kw_only=True):
    summary: object
    """Id of the message that summarises the session so far."""


def _sessions(database: Connection, path: Path) -> list[_Session]:
    cwd = _folder(database, path)
    summary = column(columns(database, "sessions"), "summary_message_id")
    rows = database.execute(
        f"SELECT id, parent_session_id, {summary} FROM sessions ORDER BY created_at, id"
    ).fetchall()
    return [
        _Session(id=words(name), cwd=cwd, subagent=bool(parent), summary=summarized)
        for name, parent, summarized in rows
    ]


def _folder(database: Connection, path: Path) -> str:
    """The project's folder: that of the database, unless the files of its sessions are elsewhere
    because it was moved or copied.
    """
    if path.parent.name not in (".crush", ".opencode"):
        return ""
    folder = path.absolute().parent.parent
    known = column(columns(database, "files"), "path")
    files = [Path(words(name)) for (name,) in database.execute(f"SELECT {known} FROM files")]
    here = (folder, folder.resolve())
    is_here = [not each.is_absolute() or any(map(each.is_relative_to, here)) for each in files]
    return str(folder) if any(is_here) or not files else ""


def _messages(database: Connection) -> str:
    return (
        f"SELECT id, role, {capped('parts')}, model, created_at FROM messages"
        " WHERE session_id = ? ORDER BY created_at, rowid"
    )


def _turn(session: _Session, row: MessageRow) -> Turn | None:
    name, role, content, model, created = row.values
    speaker, pieces = ROLES.get(words(role)), stored_json(content, row.tally)
    if speaker is None or pieces is None:
        return None
    blocks = [{**inner(piece, "data"), "type": _kind(piece)} for piece in each(pieces)]
    parts = content_parts(speaker, blocks, row.tally, _HARNESS, data=False)
    if name == session.summary:
        parts = used_as(RecordUse.SUMMARY, parts)
    key, at = words(name), moment(created)
    return session.turn(row.spot(content), speaker, parts, key=key, at=at, model=words(model))


def _kind(piece: Fields) -> object:
    """The kind of a piece, as in Anthropic's API."""
    kind = piece.get("type")
    return "tool_use" if kind == "tool_call" else kind


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
    tested="real files of both",
)
