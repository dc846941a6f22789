"""Chats of Cursor's command-line agent: a database each, with messages stored by hash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reviewer.sources.databases import LONGEST_VALUE, Connection, opened
from reviewer.sources.fields import Fields, folder_of_uri, inner, moment, words, written_object
from reviewer.sources.format import Format, Location, SessionOutline
from reviewer.sources.formats.cursor import query
from reviewer.sources.formats.session_tables import UNREADABLE, stored_json
from reviewer.sources.parts import ROLES, content_parts
from reviewer.sources.reading import Reading, row_spot
from reviewer.sources.records import Role
from reviewer.sources.turns import Session, Turn

_HASH_BYTES = 32
_MESSAGES, _WORKSPACE = 1, 9
"""Fields of the root with the messages and the folder."""
_HARNESS = (
    *("<user_info>", "<project_layout>", "<git_status>", "<rules>", "<agent_skills>"),
    *("<open_and_recently_viewed_files>", "<system_reminder>", "<attached_files>"),
)


def _turns(reading: Reading) -> Iterator[Turn]:
    """The messages in the order of the root; a message counts as a line."""
    with opened(reading.path) as database:
        facts, root = _facts(database), _fields(_root(database))
        session = Session(
            id=words(facts.get("agentId")) or reading.path.parent.name,
            cwd=_folder(root),
            model=words(facts.get("lastUsedModel")),
        )
        at = moment(facts.get("createdAt"))
        order = [raw.hex() for field, raw in root if field == _MESSAGES]
        for row, name in enumerate(order or _all(database)):
            data = _blob(database, name)
            message = inner(stored_json(data, reading.tally))
            if not message:
                reading.tally[UNREADABLE] += 1
                continue
            role = ROLES.get(words(message.get("role")), Role.SYSTEM)
            parts = [
                query(part) if role is Role.USER else part
                for part in content_parts(role, message.get("content"), reading.tally, _HARNESS)
                if part.text != "[REDACTED]"
            ]
            yield session.turn(row_spot(row, data), role, parts, name=f"{row}:{name}", at=at)


def _facts(database: Connection) -> Fields:
    """The database's metadata of the chat: JSON, usually hex-encoded."""
    row = database.execute("SELECT value FROM meta WHERE key = '0'").fetchone()
    text = row[0] if row else None
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if not isinstance(raw, bytes) or len(raw) > LONGEST_VALUE:
        return {}
    plain = raw.decode("utf-8", "replace")
    if not plain.lstrip().startswith("{"):
        try:
            plain = bytes.fromhex(plain).decode("utf-8", "replace")
        except ValueError:
            return {}
    return written_object(plain)


def _root(database: Connection) -> bytes:
    return _blob(database, words(_facts(database).get("latestRootBlobId")))


def _blob(database: Connection, name: str) -> bytes:
    row = database.execute(
        f"SELECT data FROM blobs WHERE id = ? AND length(data) <= {LONGEST_VALUE}", (name,)
    ).fetchone()
    data = row[0] if row else b""
    if isinstance(data, str):
        return data.encode("utf-8", "replace")
    return data if isinstance(data, bytes) else b""


def _all(database: Connection) -> list[str]:
    """Every blob, for a chat with an unreadable root."""
    return [words(name) for (name,) in database.execute("SELECT id FROM blobs ORDER BY rowid")]


def _fields(data: bytes) -> list[tuple[int, bytes]]:
    """The byte fields of a protocol buffer, up to the first unreadable one."""
    found: list[tuple[int, bytes]] = []
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        if tag & 7 == 2:
            size, at = _number(data, at)
            if at + size > len(data):
                break
            if tag >> 3 != _MESSAGES or size == _HASH_BYTES:
                found.append((tag >> 3, data[at : at + size]))
            at += size
        elif tag & 7 == 0:
            _, at = _number(data, at)
        else:
            at += {1: 8, 5: 4}.get(tag & 7, len(data))
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A varint, and the offset after it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value, at


def _folder(found: list[tuple[int, bytes]]) -> str:
    for field, raw in found:
        if field == _WORKSPACE:
            text = raw.decode("utf-8", "replace")
            return folder_of_uri(text) if "://" in text else text if text[:1] == "/" else ""
    return ""


def _outlines(path: Path) -> list[SessionOutline]:
    """The chat; none if a transcript of it is in Cursor's own folder for those."""
    projects = path.parent.parent.parent.parent / "projects"
    name = path.parent.name
    if any(projects.glob(f"*/agent-transcripts/{name}/{name}.jsonl")):
        return []
    with opened(path) as database:
        return [SessionOutline("", _folder(_fields(_root(database))))]


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
    person="messages with the role `user`, between `<user_query>` tags if present",
    left_out="the environment, rules and files before the request; a chat with a transcript"
    " in `agent-transcripts` is read from there",
)
