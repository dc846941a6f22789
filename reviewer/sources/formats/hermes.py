"""Hermes: one database with all projects' sessions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from reviewer.sources.databases import Connection, capped, column, columns
from reviewer.sources.fields import moment, nanoseconds, words, written_object
from reviewer.sources.format import Format, Location
from reviewer.sources.formats.session_tables import (
    UNREADABLE,
    MessageRow,
    SessionTables,
    stored_json,
)
from reviewer.sources.parts import (
    ROLES,
    Part,
    function_calls,
    returned,
    said,
    spoken,
    thought,
    used_as,
)
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn

_REVIEWS = (
    "Review the conversation above and update the skill library",
    "Review the conversation above and consider saving to memory",
)
"""Prefixes of Hermes's requests to itself; the answers are not for the person either."""
_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")


class _Session(Session, kw_only=True):
    in_review: bool = False
    """Whether the last request was one of Hermes to itself."""


def _sessions(database: Connection, path: Path) -> list[_Session]:
    known = columns(database, "sessions")
    rows = database.execute(
        f"SELECT id, {column(known, 'cwd', 'working_dir')}, {column(known, 'model')},"
        f" {column(known, 'model_config')}, {column(known, 'last_activity_at', 'started_at')}"
        " FROM sessions ORDER BY started_at, id"
    ).fetchall()
    return [
        _Session(
            id=words(name),
            cwd=words(cwd),
            model=words(model),
            subagent=bool(written_object(config).get("_delegate_from")),
            modified_ns=nanoseconds(last),
        )
        for name, cwd, model, config, last in rows
    ]


def _messages(database: Connection) -> str:
    known = columns(database, "messages")
    chosen = ", ".join(
        capped(column(known, name))
        for name in ("content", "tool_calls", "reasoning", "tool_call_id", "tool_name")
    )
    hidden, active = column(known, "display_kind"), column(known, "active", default="1")
    return (
        f"SELECT id, role, timestamp, {hidden}, {active}, {chosen} FROM messages"
        " WHERE session_id = ? ORDER BY timestamp, id"
    )


def _turn(session: _Session, row: MessageRow) -> Turn | None:
    name, role, at, kind, active, *values = row.values
    speaker = ROLES.get(words(role))
    if speaker is None:
        return None
    content, *others = map(words, values)
    parts = _parts(row.tally, speaker, content, *others)
    asked = content.lstrip().startswith(_REVIEWS)
    if asked or kind == "hidden" or (session.in_review and speaker is Role.ASSISTANT):
        parts = used_as(RecordUse.WRAPPER, parts)
    session.in_review = asked or (session.in_review and speaker is not Role.USER)
    return session.turn(
        row.spot("\n".join((content, *others))),
        speaker,
        parts,
        key=f"hermes:{session.id}:{name}:{at}",
        at=moment(at),
        rewound=not active,
    )


def _parts(
    tally: Counter[str], role: Role, content: str, calls: str, idea: str, call: str, tool: str
) -> list[Part]:
    if role is Role.TOOL:
        return returned(content, call, tool)
    parts = thought(idea)
    if content.lstrip().startswith(_SUMMARIES):
        parts += said(content, RecordUse.SUMMARY)
    else:
        parts += spoken(role, content, tally)
    made = stored_json(calls, tally)
    if calls and made is None:
        tally[UNREADABLE] += 1
    return parts + function_calls(made)


_TABLES = SessionTables(sessions=_sessions, messages=_messages, turn=_turn)

FORMAT = Format(
    name="hermes",
    agent="Hermes",
    detect_tables=lambda names: (
        {"sessions", "messages"} <= set(names)
        and ("state_meta" in names or any(name.startswith("messages_fts") for name in names))
    ),
    turns=_TABLES.turns,
    outlines=_TABLES.outlines,
    locations=(
        Location(folder=".hermes", pattern="state.db", variable="HERMES_HOME"),
        Location(
            folder=".hermes/profiles",
            pattern="*/state.db",
            variable="HERMES_HOME",
        ),
    ),
)
