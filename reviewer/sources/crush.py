"""Crush, and the Go program "opencode" that it grew from: a database in the project's folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reviewer.sources.databases import capped, column, columns, opened
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
    returned,
    row_spot,
    said,
    thought,
    typed,
    words,
)

HARNESS = (
    "`Please analyze this codebase and create a **",
    "Please analyze this codebase and create a ",
)
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}


def _turns(reading: Reading) -> Iterator[Turn]:
    folder = reading.path.parent
    cwd = str(folder.parent) if folder.name in (".crush", ".opencode") else ""
    with opened(reading.path) as database:
        known = columns(database, "sessions")
        summary = column(known, "summary_message_id")
        sessions = database.execute(
            f"SELECT id, parent_session_id, {summary} FROM sessions ORDER BY created_at, id"
        ).fetchall()
        row = 0
        for session, parent, summarized in sessions:
            wanted = reading.source.sessions is None or session in reading.source.sessions
            for name, role, parts, model, created in database.execute(
                f"SELECT id, role, {capped('parts')}, model, created_at FROM messages"
                " WHERE session_id = ? ORDER BY created_at, rowid",
                (session,),
            ):
                row += 1
                speaker = _ROLES.get(role)
                if not wanted:
                    continue
                if speaker is None or not isinstance(parts, str):
                    reading.tally["row that cannot be read"] += 1
                    continue
                try:
                    value = decoded(parts.encode("utf-8", "replace"), reading.tally)
                except (ValueError, RecursionError):
                    reading.tally["row that cannot be read"] += 1
                    continue
                recap = name == summarized
                asked = bool(parent) and speaker is Role.USER
                yield Turn(
                    spot=row_spot(row - 1, parts),
                    role=Role.ASSISTANT if asked else speaker,
                    parts=[
                        part
                        for piece in each(value)
                        for part in _parts(reading, speaker, piece, recap)
                    ],
                    key=words(name),
                    at=moment(created),
                    session=words(session) or None,
                    sidechain=bool(parent),
                    cwd=cwd,
                    model=words(model),
                )


def _outlines(path: Path) -> list[SessionOutline]:
    with opened(path) as database:
        rows = database.execute("SELECT id, parent_session_id FROM sessions").fetchall()
    cwd = str(path.parent.parent)
    return [SessionOutline(words(name), cwd, subagent=bool(above)) for name, above in rows]


def _parts(reading: Reading, role: Role, piece: Fields, recap: bool) -> list[Part]:
    kind, data = words(piece.get("type")), inner(piece, "data")
    text = words(data.get("text"))
    if kind == "text":
        if not text.strip():
            return []
        if recap:
            return [said(text, Use.SUMMARY)]
        return [typed(text, reading.tally, HARNESS) if role is Role.USER else said(text)]
    if kind == "reasoning":
        return thought(data.get("thinking"))
    if kind == "tool_call":
        return [called(data.get("name"), data.get("input"), data.get("id"))]
    if kind == "tool_result":
        failed = bool(data.get("is_error"))
        result = data.get("content")
        return [returned(result, data.get("tool_call_id"), data.get("name"), error=failed)]
    reading.tally[kind if kind in ("finish", "binary", "image_url") else "unknown part"] += 1
    return []


FORMAT = Format(
    name="crush",
    agent="Crush",
    detect_tables=lambda names: {"sessions", "messages", "files"} <= set(names),
    turns=_turns,
    outlines=_outlines,
    locations=(
        Location(folder=".crush", pattern="crush.db", in_project=True),
        Location(folder=".opencode", pattern="opencode.db", in_project=True),
    ),
    facts=Facts(
        person="parts `text` of messages with the role `user`",
        left_out="tasks of sub-agents",
        folder="the folder that holds the database",
        compaction="`sessions.summary_message_id`",
        subagent="`parent_session_id`",
        tested="real files of both",
    ),
)
