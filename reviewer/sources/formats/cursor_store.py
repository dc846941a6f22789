"""Chats of Cursor's command-line agent: a database each, with messages stored by hash."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reviewer.sources.databases import Connection, capped, opened
from reviewer.sources.fields import Fields, inner, moment, words, written_object
from reviewer.sources.format import Format, Location
from reviewer.sources.formats.cursor import message_parts
from reviewer.sources.formats.session_tables import stored_json
from reviewer.sources.parts import ROLES
from reviewer.sources.reading import Reading, row_spot
from reviewer.sources.turns import Session, Turn

_MESSAGE = re.compile(rb"\n (.{32})", re.DOTALL)
"""The hash of a message in the root of a chat, field 1 of a protocol buffer."""

_HARNESS = (
    *("<user_info>", "<project_layout>", "<git_status>", "<rules>", "<agent_skills>"),
    *("<open_and_recently_viewed_files>", "<system_reminder>", "<attached_files>"),
)


def _turns(reading: Reading) -> Iterator[Turn]:
    """The messages of the chat in order; a message counts as a line."""
    row = 0
    with opened(reading.path) as database:
        facts = _facts(database)
        session = Session(
            id=words(facts.get("agentId")) or reading.path.parent.name,
            model=words(facts.get("lastUsedModel")),
        )
        at = moment(facts.get("createdAt"))
        for name in _messages(database, words(facts.get("latestRootBlobId"))):
            data = _blob(database, name)
            message = inner(stored_json(data, reading.tally))
            role = ROLES.get(words(message.get("role")))
            if role is None:
                reading.tally["not a message"] += 1
                continue
            parts = message_parts(role, message.get("content"), reading.tally, _HARNESS)
            yield session.turn(row_spot(row, data), role, parts, name=f"{row}:{name}", at=at)
            row += 1


def _messages(database: Connection, root: str) -> list[str]:
    """The ids of the messages in the latest root, without those that the person took back; of all
    blobs if it has none.
    """
    rows = database.execute("SELECT id FROM blobs ORDER BY rowid")
    stored = dict.fromkeys(words(name) for (name,) in rows)
    named = [each.hex() for each in _MESSAGE.findall(_blob(database, root))]
    return [each for each in named if each in stored] or list(stored)


def _blob(database: Connection, name: str) -> bytes:
    row = database.execute(f"SELECT {capped('data')} FROM blobs WHERE id = ?", (name,)).fetchone()
    data = row[0] if row else b""
    data = data.encode("utf-8", "replace") if isinstance(data, str) else data
    return data if isinstance(data, bytes) else b""


def _facts(database: Connection) -> Fields:
    """The database's metadata of the chat: JSON, usually hex-encoded."""
    row = database.execute(f"SELECT {capped('value')} FROM meta WHERE key = '0'").fetchone()
    text = words(row[0]) if row else ""
    try:
        return written_object(text if "{" in text else bytes.fromhex(text).decode())
    except ValueError:
        return {}


def _outlines(path: Path) -> list[Session]:
    """The chat; none if a transcript of it is in Cursor's own folder for those."""
    projects = path.parent.parent.parent.parent / "projects"
    name = path.parent.name
    if any(projects.glob(f"*/agent-transcripts/{name}/{name}.jsonl")):
        return []
    return [Session()]


FORMAT = Format(
    name="cursor-chat",
    agent="Cursor agent",
    detect_tables=lambda names: {"blobs", "meta"} <= set(names),
    turns=_turns,
    outlines=_outlines,
    locations=(
        Location(
            folder=".cursor/chats",
            pattern="*/*/store.db",
            variable="CURSOR_DATA_DIR",
        ),
    ),
)
