"""Goose sessions: the database since autumn 2025."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reviewer.sources.databases import capped, opened
from reviewer.sources.formats import Facts, Format, Location, SessionOutline
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.lines import reading as opened_file
from reviewer.sources.records import Role
from reviewer.sources.turns import (
    STATE,
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
    row_spot,
    said,
    thought,
    typed,
    words,
)
from reviewer.sources.unpacked import plain_suffix

_SUBAGENTS = ("sub_agent", "subagent")


def _turns(reading: Reading) -> Iterator[Turn]:
    if plain_suffix(reading.path) == ".jsonl":
        yield from _log_turns(reading)
        return
    with opened(reading.path) as database:
        rows = database.execute(
            f"SELECT m.id, m.session_id, m.role, {capped('m.content_json')}, m.created_timestamp,"
            " s.working_dir, s.session_type FROM messages m"
            " JOIN sessions s ON s.id = m.session_id ORDER BY s.created_at, s.id, m.id"
        )
        for row, (name, session, role, content, created, cwd, kind) in enumerate(rows):
            if reading.source.sessions is not None and session not in reading.source.sessions:
                continue
            try:
                value = decoded((content or "null").encode("utf-8", "replace"), reading.tally)
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, list):
                reading.tally["row that cannot be read"] += 1
                continue
            apart = kind in _SUBAGENTS
            speaker, parts = _parts(reading, words(role), value)
            yield Turn(
                spot=row_spot(row, content),
                role=Role.ASSISTANT if apart and speaker is Role.USER else speaker,
                parts=parts,
                key=f"goose:{session}:{name}:{created}",
                at=moment(created),
                session=words(session) or None,
                sidechain=apart,
                cwd=words(cwd),
            )


def _outlines(path: Path) -> list[SessionOutline]:
    if plain_suffix(path) == ".jsonl":
        with opened_file(path) as stream:
            head = stream.readline(1_000_000)
        try:
            found = inner(decoded(head, Counter()))
        except (ValueError, RecursionError):
            found = {}
        return [SessionOutline("", words(found.get("working_dir")))]
    with opened(path) as database:
        rows = database.execute("SELECT id, working_dir, session_type FROM sessions").fetchall()
    return [
        SessionOutline(words(name), words(cwd), subagent=kind in _SUBAGENTS)
        for name, cwd, kind in rows
    ]


def _log_turns(reading: Reading) -> Iterator[Turn]:
    """The generation before: the facts of the session on the first line."""
    session, cwd = reading.path.stem, ""
    chain = Chain(session)
    for spot, record in reading.objects():
        if "working_dir" in record:
            cwd = words(record.get("working_dir"))
            reading.tally[STATE] += 1
            continue
        speaker, parts = _parts(reading, words(record.get("role")), record.get("content"))
        yield Turn(
            spot=spot,
            role=speaker,
            parts=parts,
            key=chain.key(speaker, *(part.kind + part.call + part.text for part in parts)),
            at=moment(record.get("created")),
            session=session,
            cwd=cwd,
        )


def _parts(reading: Reading, role: str, content: object) -> tuple[Role, list[Part]]:
    speaker = Role.USER if role == "user" else Role.ASSISTANT
    parts: list[Part] = []
    for piece in each(content):
        kind, text = piece.get("type"), words(piece.get("text"))
        if kind == "text" and text.strip():
            parts.append(typed(text, reading.tally) if speaker is Role.USER else said(text))
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
                 variable="XDG_DATA_HOME", moves=".local/share"),
        Location(folder=".local/share/goose/sessions", pattern="*.jsonl",
                 windows="%APPDATA%/Block/goose/data/sessions",
                 variable="XDG_DATA_HOME", moves=".local/share"),
    ),
    facts=Facts(
        person="parts `text` of messages with the role `user`",
        left_out="results of tools, which have the role `user`",
        folder="`sessions.working_dir`",
        subagent="`session_type`",
        tested="the tables of a real file; fixtures",
    ),
)  # fmt: skip
