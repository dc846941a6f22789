"""Goose sessions: the database since autumn 2025."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reviewer.sources.databases import Connection, capped
from reviewer.sources.formats import Facts, Format, Location, SessionOutline
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.lines import reading as opened_file
from reviewer.sources.records import Role
from reviewer.sources.session_tables import (
    MessageRow,
    SessionTables,
    StoredSession,
    UnreadableRowError,
    stored_json,
)
from reviewer.sources.turns import (
    SESSION_STATE,
    Chain,
    Fields,
    Part,
    Reading,
    Turn,
    called,
    decoded,
    each,
    inner,
    moment,
    returned,
    said,
    thought,
    typed,
    words,
)
from reviewer.sources.unpacked import plain_suffix

_SUBAGENTS = ("sub_agent", "subagent")


def _sessions(database: Connection, path: Path) -> list[StoredSession]:
    rows = database.execute(
        "SELECT id, working_dir, session_type FROM sessions ORDER BY created_at, id"
    ).fetchall()
    return [
        StoredSession(id=name, cwd=words(cwd), subagent=kind in _SUBAGENTS)
        for name, cwd, kind in rows
    ]


def _messages(database: Connection) -> str:
    return (
        f"SELECT id, role, {capped('content_json')}, created_timestamp FROM messages"
        " WHERE session_id = ? ORDER BY id"
    )


def _turn(session: StoredSession, row: MessageRow) -> Turn:
    name, role, content, created = row.values
    pieces = stored_json(content, row.tally)
    if not isinstance(pieces, list):
        raise UnreadableRowError
    speaker, parts = _parts(row.tally, words(role), pieces)
    return row.turn(
        session,
        speaker,
        parts,
        raw=content,
        key=f"goose:{session.id}:{name}:{created}",
        at=moment(created),
    )


_TABLES = SessionTables(sessions=_sessions, messages=_messages, turn=_turn)


def _turns(reading: Reading) -> Iterator[Turn]:
    if _is_log_file(reading.path):
        return _log_turns(reading)
    return _TABLES.turns(reading)


def _outlines(path: Path) -> list[SessionOutline]:
    if not _is_log_file(path):
        return _TABLES.outlines(path)
    with opened_file(path) as stream:
        head = stream.readline(1_000_000)
    try:
        facts = inner(decoded(head, Counter()))
    except (ValueError, RecursionError):
        facts = {}
    return [SessionOutline("", words(facts.get("working_dir")))]


def _is_log_file(path: Path) -> bool:
    return plain_suffix(path) == ".jsonl"


def _log_turns(reading: Reading) -> Iterator[Turn]:
    """The generation before: the facts of the session on the first line."""
    session, cwd = reading.path.stem, ""
    chain = Chain(session)
    for spot, record in reading.objects():
        if "working_dir" in record:
            cwd = words(record.get("working_dir"))
            reading.tally[SESSION_STATE] += 1
            continue
        speaker, parts = _parts(reading.tally, words(record.get("role")), record.get("content"))
        yield Turn(
            spot=spot,
            role=speaker,
            parts=parts,
            key=chain.key(speaker, *(part.kind + part.call + part.text for part in parts)),
            at=moment(record.get("created")),
            session=session,
            cwd=cwd,
        )


def _parts(tally: Counter[str], role: str, content: object) -> tuple[Role, list[Part]]:
    speaker = Role.USER if role == "user" else Role.ASSISTANT
    parts: list[Part] = []
    for piece in each(content):
        kind, text = piece.get("type"), words(piece.get("text"))
        if kind == "text" and text.strip():
            parts.append(typed(text, tally) if speaker is Role.USER else said(text))
        elif kind == "thinking":
            parts += thought(piece.get("thinking"))
        elif kind == "toolRequest":
            call = inner(piece, "toolCall", "value")
            parts.append(called(call.get("name"), call.get("arguments"), piece.get("id")))
        elif kind == "toolResponse":
            parts.append(_result(piece))
    if parts and all(part.kind == "tool_result" for part in parts):
        speaker = Role.TOOL
    return speaker, parts


def _result(piece: Fields) -> Part:
    result = inner(piece, "toolResult")
    failed = result.get("status") == "error"
    value = result.get("error") if failed else result.get("value")
    return returned(value, piece.get("id"), error=failed)


def _is_log(record: Outline) -> bool:
    if "working_dir" in record and "role" not in record:
        return True
    return "role" in record and "created" in record and isinstance(record.get("content"), list)


FORMAT = Format(
    name="goose",
    agent="Goose",
    detect_record=_is_log,
    detect_tables=lambda names: {"sessions", "messages", "schema_version"} <= set(names),
    turns=_turns,
    outlines=_outlines,
    locations=(
        Location(folder=".local/share/goose/sessions", pattern="sessions.db",
                 mac=".local/share/goose/sessions", windows="%APPDATA%/Block/goose/data/sessions",
                 variable="XDG_DATA_HOME", moves=".local/share",
                 other_variable="GOOSE_PATH_ROOT", other_folder="data/sessions"),
        Location(folder=".local/share/goose/sessions", pattern="*.jsonl",
                 windows="%APPDATA%/Block/goose/data/sessions",
                 variable="XDG_DATA_HOME", moves=".local/share",
                 other_variable="GOOSE_PATH_ROOT", other_folder="data/sessions"),
    ),
    facts=Facts(
        person="parts `text` of messages with the role `user`",
        left_out="results of tools, which have the role `user`",
        folder="`sessions.working_dir`",
        subagent="`session_type`",
        tested="the tables of a real file; fixtures",
    ),
)  # fmt: skip
