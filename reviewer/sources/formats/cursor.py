"""Cursor: the editor's database (2024 and later) and its agent's transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from reviewer.sources.databases import Connection, capped, opened, table_names
from reviewer.sources.fields import Fields, each, inner, moment, words
from reviewer.sources.format import Format, Location, of_editor
from reviewer.sources.formats.chat import has_role
from reviewer.sources.formats.session_tables import UNREADABLE, stored_json
from reviewer.sources.parts import (
    Part,
    called,
    content_parts,
    returned,
    said,
    speaker,
    thought,
    typed,
)
from reviewer.sources.reading import Reading, row_spot, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn

_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_CHATS = (
    ("workbench.panel.aichat.view.aichat.chatdata", "tabs"),
    ("composer.composerData", "allComposers"),
)
"""Keys of a workspace's chats, with the list in each value."""
_TIMES = ("createdAt", "lastSendTime")


def _value(database: Connection, tally: Counter[str], table: str, key: str) -> Fields:
    """The object stored under a key; empty if missing or unreadable."""
    row = database.execute(
        f"SELECT {capped('value')} FROM {table} WHERE key = ?", (key,)
    ).fetchone()
    if row is None or row[0] is None:
        return {}
    value = stored_json(row[0], tally)
    if value is None:
        tally[UNREADABLE] += 1
    return inner(value)


def _conversations(
    database: Connection, tally: Counter[str]
) -> Iterator[tuple[Fields, Iterator[Fields]]]:
    """The facts and bubbles of a workspace's chats, which contain their bubbles, and of the
    composers, whose bubbles are separate values since 2025.
    """
    names = table_names(database)
    if "ItemTable" in names:
        for key, named in _CHATS:
            for chat in each(_value(database, tally, "ItemTable", key).get(named)):
                if chat.get("bubbles") or chat.get("conversation"):
                    yield chat, _inside(chat)
    if "cursorDiskKV" in names:
        keys = database.execute(
            "SELECT key FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'"
            " ORDER BY key"
        ).fetchall()
        for (key,) in keys:
            composer = _value(database, tally, "cursorDiskKV", key)
            yield composer, _of_composer(database, tally, composer)


def _session(facts: Fields) -> Session:
    return Session(
        id=words(facts.get("tabId")) or words(facts.get("composerId")),
        cwd=words(inner(facts, "workspaceIdentifier", "uri").get("fsPath")),
    )


def _inside(chat: Fields) -> Iterator[Fields]:
    return each(chat.get("bubbles") if "bubbles" in chat else chat.get("conversation"))


def _of_composer(database: Connection, tally: Counter[str], composer: Fields) -> Iterator[Fields]:
    yield from _inside(composer)
    session = words(composer.get("composerId"))
    for head in each(composer.get("fullConversationHeadersOnly")):
        key = f"bubbleId:{session}:{words(head.get('bubbleId'))}"
        if bubble := _value(database, tally, "cursorDiskKV", key):
            yield bubble
        else:
            tally["bubble that is missing"] += 1


def _turns(reading: Reading) -> Iterator[Turn]:
    """The conversations of a database; a bubble counts as a line."""
    rows = count()
    with opened(reading.path) as database:
        for facts, bubbles in _conversations(database, reading.tally):
            session = _session(facts)
            for bubble in bubbles:
                person = bubble.get("type") in (1, "user")
                parts = _parts(reading.tally, bubble, person)
                name = words(bubble.get("bubbleId")) or words(bubble.get("id"))
                model = words(inner(bubble, "modelInfo").get("modelName"))
                yield session.turn(
                    row_spot(next(rows), "\n".join(part.text for part in parts)),
                    Role.USER if person else Role.ASSISTANT,
                    parts,
                    name=name,
                    at=moment(bubble.get("createdAt"), *(facts.get(field) for field in _TIMES)),
                    model=words(bubble.get("modelType")) or model,
                )


def _outlines(path: Path) -> list[Session]:
    """The conversations; those of a workspace have their folder in `workspace.json` next to it."""
    with opened(path) as database:
        return [_session(facts) for facts, _ in _conversations(database, Counter())]


def _parts(tally: Counter[str], bubble: Fields, person: bool) -> list[Part]:
    text = words(bubble.get("text")) or words(bubble.get("rawText"))
    if person:
        return typed(text, tally)
    parts = thought(inner(bubble, "thinking").get("text")) + said(text)
    if tool := inner(bubble, "toolFormerData"):
        call = tool.get("toolCallId")
        given = tool.get("rawArgs") or tool.get("params")
        parts += called(tool.get("name"), given, call)
        if "result" in tool:
            failed = tool.get("status") in ("error", "cancelled")
            parts += returned(tool.get("result"), call, tool.get("name"), error=failed)
    return parts


def _log_turns(reading: Reading) -> Iterator[Turn]:
    """An agent transcript, which has neither times nor ids."""
    session = Session(id=reading.path.stem, subagent=reading.path.parent.name == "subagents")
    for spot, record in reading.objects():
        message = inner(record, "message")
        role = Role.USER if record.get("role") == "user" else Role.ASSISTANT
        parts = message_parts(role, message.get("content"), reading.tally)
        if not parts:
            silent(reading.tally, record.get("type"))
            continue
        yield session.turn(spot, speaker(role, parts), parts, at=moment(record.get("timestamp")))


def message_parts(
    role: Role, content: object, tally: Counter[str], harness: tuple[str, ...] = ()
) -> list[Part]:
    """The parts of a message of the agent, with the person's words alone."""
    parts = content_parts(role, content, tally, harness)
    parts = [part for part in parts if part.text != "[REDACTED]"]
    return list(map(_query, parts)) if role is Role.USER else parts


def _query(part: Part) -> Part:
    """The person's words in a text that has them between tags."""
    start = part.text.find(_QUERY)
    if part.kind != "text" or start < 0:
        return part
    end = part.text.rfind(_QUERY_END)
    inside = part.text[start + len(_QUERY) : end if end > start else None]
    return Part("text", inside.strip(), RecordUse.MESSAGE)


def _is_log(record: Fields) -> bool:
    message = inner(record, "message")
    return (
        has_role(record) and "content" in message and "role" not in message and "type" not in record
    )


EDITOR = Format(
    name="cursor",
    agent="Cursor",
    detect_tables=lambda names: bool({"ItemTable", "cursorDiskKV"} & set(names)),
    turns=_turns,
    outlines=_outlines,
    locations=(
        of_editor("Cursor/User/globalStorage", "state.vscdb"),
        of_editor("Cursor/User/workspaceStorage", "*/state.vscdb"),
    ),
    tested="a real file from 2024; fixtures for the later tables",
)

AGENT = Format(
    name="cursor-agent",
    agent="Cursor agent",
    detect_record=_is_log,
    turns=_log_turns,
    locations=tuple(
        Location(
            folder=".cursor/projects",
            pattern=f"*/agent-transcripts/{pattern}",
            variable="CURSOR_DATA_DIR",
            of_subagents="subagents" in pattern,
        )
        for pattern in ("*/*.jsonl", "*.jsonl", "*/subagents/*.jsonl")
    ),
)
