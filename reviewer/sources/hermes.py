"""Hermes: one database with the sessions of all projects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from reviewer.sources.databases import Connection, capped, column, columns, opened
from reviewer.sources.formats import Facts, Format, Location, SessionOutline
from reviewer.sources.records import Role, Use
from reviewer.sources.turns import (
    Fields,
    Part,
    Reading,
    Turn,
    called,
    decoded,
    each,
    inner,
    moment,
    nanoseconds,
    returned,
    row_spot,
    said,
    thought,
    typed,
    words,
)

_REVIEWS = (
    "Review the conversation above and update the skill library",
    "Review the conversation above and consider saving to memory",
)
"""How requests begin that Hermes makes of itself; the answer is not for the person either."""
_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL, "system": Role.SYSTEM}


def _turns(reading: Reading) -> Iterator[Turn]:
    """The messages in the order of the sessions; a row counts as a line."""
    with opened(reading.path) as database:
        known = columns(database, "messages")
        chosen = ", ".join(
            capped(column(known, name))
            for name in ("content", "tool_calls", "reasoning", "tool_call_id", "tool_name")
        )
        hidden, active = column(known, "display_kind"), column(known, "active", default="1")
        row = -1
        for session in _sessions(database):
            wanted = reading.source.sessions is None or session.name in reading.source.sessions
            review = False
            for name, role, at, kind, live, *values in database.execute(
                f"SELECT id, role, timestamp, {hidden}, {active}, {chosen} FROM messages"
                " WHERE session_id = ? ORDER BY timestamp, id",
                (session.name,),
            ):
                row += 1
                speaker = _ROLES.get(role)
                if not wanted:
                    continue
                if speaker is None:
                    reading.tally["row that cannot be read"] += 1
                    continue
                parts = _parts(reading, speaker, *map(words, values))
                asked = words(values[0]).lstrip().startswith(_REVIEWS)
                if asked or kind == "hidden" or (review and speaker is Role.ASSISTANT):
                    parts = [
                        msgspec.structs.replace(part, use=Use.WRAPPER)
                        if part.kind == "text"
                        else part
                        for part in parts
                    ]
                review = asked or (review and speaker is not Role.USER)
                yield Turn(
                    spot=row_spot(row, "\n".join(map(words, values))),
                    role=Role.ASSISTANT if session.apart and speaker is Role.USER else speaker,
                    parts=parts,
                    key=f"hermes:{session.name}:{name}:{at}",
                    at=moment(at),
                    session=session.name or None,
                    sidechain=session.apart,
                    rewound=not live,
                    cwd=session.cwd,
                    model=session.model,
                )


class _Session(msgspec.Struct, frozen=True):
    name: str
    cwd: str
    model: str
    apart: bool
    """Of a sub-agent."""
    last: object


def _sessions(database: Connection) -> list[_Session]:
    known = columns(database, "sessions")
    rows = database.execute(
        f"SELECT id, {column(known, 'cwd', 'working_dir')}, {column(known, 'model')},"
        f" {column(known, 'model_config')}, {column(known, 'last_activity_at', 'started_at')}"
        " FROM sessions ORDER BY started_at, id"
    ).fetchall()
    return [
        _Session(words(name), words(cwd), words(model), _is_delegated(config), last)
        for name, cwd, model, config, last in rows
    ]


def _is_delegated(config: object) -> bool:
    try:
        found = msgspec.json.decode(words(config) or "{}")
    except (ValueError, RecursionError):
        return False
    return bool(inner(found).get("_delegate_from"))


def _outlines(path: Path) -> list[SessionOutline]:
    with opened(path) as database:
        return [
            SessionOutline(
                session.name,
                session.cwd,
                nanoseconds(session.last),
                session.apart,
            )
            for session in _sessions(database)
        ]


def _parts(
    reading: Reading, role: Role, content: str, calls: str, idea: str, call: str, tool: str
) -> list[Part]:
    if role is Role.TOOL:
        return [returned(content, call, tool)]
    parts = thought(idea)
    if content.lstrip().startswith(_SUMMARIES):
        parts.append(said(content, Use.SUMMARY))
    elif content.strip():
        parts.append(typed(content, reading.tally) if role is Role.USER else said(content))
    try:
        made = decoded(calls.encode("utf-8", "replace"), reading.tally) if calls else None
    except (ValueError, RecursionError):
        reading.tally["row that cannot be read"] += 1
        made = None
    for one in each(made):
        given: Fields = inner(one, "function")
        parts.append(called(given.get("name"), given.get("arguments"), one.get("id")))
    return parts


FORMAT = Format(
    name="hermes",
    agent="Hermes",
    detect_tables=lambda names: (
        {"sessions", "messages"} <= set(names)
        and ("state_meta" in names or any(name.startswith("messages_fts") for name in names))
    ),
    turns=_turns,
    outlines=_outlines,
    locations=(
        Location(folder=".hermes", pattern="state.db", variable="HERMES_HOME", moves=".hermes"),
        Location(
            folder=".hermes/profiles",
            pattern="*/state.db",
            variable="HERMES_HOME",
            moves=".hermes",
        ),
    ),
    facts=Facts(
        person="messages with the role `user`",
        left_out="requests to review the conversation and the answers to them, hidden messages",
        folder="`sessions.cwd`, where there is one",
        compaction="a message that begins with `[CONTEXT COMPACTION`; the session goes on as"
        " another one",
        rewind="`messages.active`",
        subagent="`_delegate_from` in `sessions.model_config`",
    ),
)
