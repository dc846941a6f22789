"""Goose sessions: the database since autumn 2025, and the earlier logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reviewer.sources.databases import Connection, capped
from reviewer.sources.fields import Fields, each, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.formats.session_tables import MessageRow, SessionTables, stored_json
from reviewer.sources.parts import Part, called, returned, speaker, spoken, thought
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import Role
from reviewer.sources.turns import Session, Turn

_SUBAGENTS = ("sub_agent", "subagent")


def _sessions(database: Connection, path: Path) -> list[Session]:
    rows = database.execute(
        "SELECT id, working_dir, session_type FROM sessions ORDER BY created_at, id"
    ).fetchall()
    return [
        Session(id=words(name), cwd=words(cwd), subagent=kind in _SUBAGENTS)
        for name, cwd, kind in rows
    ]


def _messages(database: Connection) -> str:
    return (
        f"SELECT id, role, {capped('content_json')}, created_timestamp FROM messages"
        " WHERE session_id = ? ORDER BY id"
    )


def _turn(session: Session, row: MessageRow) -> Turn | None:
    name, role, content, created = row.values
    pieces = stored_json(content, row.tally)
    if not isinstance(pieces, list):
        return None
    by, parts = _parts(row.tally, words(role), pieces)
    key = f"goose:{session.id}:{name}:{created}"
    return session.turn(row.spot(content), by, parts, key=key, at=moment(created))


_TABLES = SessionTables(sessions=_sessions, messages=_messages, turn=_turn)


def _log_turns(reading: Reading) -> Iterator[Turn]:
    """A log has the facts of its session on the first line."""
    session = Session(id=reading.path.stem)
    for spot, record in reading.objects():
        if "working_dir" in record:
            session.cwd = words(record.get("working_dir"))
            silent(reading.tally, "session")
            continue
        by, parts = _parts(reading.tally, words(record.get("role")), record.get("content"))
        yield session.turn(spot, by, parts, at=moment(record.get("created")))


def _parts(tally: Counter[str], name: str, content: object) -> tuple[Role, list[Part]]:
    role = Role.USER if name == "user" else Role.ASSISTANT
    parts: list[Part] = []
    for piece in each(content):
        kind, text = piece.get("type"), words(piece.get("text"))
        if kind == "text":
            parts += spoken(role, text, tally)
        elif kind == "thinking":
            parts += thought(piece.get("thinking"))
        elif kind == "toolRequest":
            call = inner(piece, "toolCall", "value")
            parts += called(call.get("name"), call.get("arguments"), piece.get("id"))
        elif kind == "toolResponse":
            result = inner(piece, "toolResult")
            failed = result.get("status") == "error"
            value = result.get("error") if failed else result.get("value")
            parts += returned(value, piece.get("id"), error=failed)
    return speaker(role, parts), parts


def _is_log(record: Fields) -> bool:
    if "working_dir" in record and "role" not in record:
        return True
    return "role" in record and "created" in record and isinstance(record.get("content"), list)


DATABASE = Format(
    name="goose",
    agent="Goose",
    detect_tables=lambda names: {"sessions", "messages", "schema_version"} <= set(names),
    turns=_TABLES.turns,
    outlines=_TABLES.outlines,
    locations=(
        Location(folder=".local/share/goose/sessions", pattern="sessions.db",
                 windows="%APPDATA%/Block/goose/data/sessions", variable="XDG_DATA_HOME"),
    ),
    tested="the tables from a real file; fixtures",
)  # fmt: skip

LOG = Format(
    name="goose-log",
    agent="Goose",
    detect_record=_is_log,
    turns=_log_turns,
    locations=(
        Location(folder=".local/share/goose/sessions", pattern="*.jsonl",
                 windows="%APPDATA%/Block/goose/data/sessions", variable="XDG_DATA_HOME"),
    ),
)  # fmt: skip
