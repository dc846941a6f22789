"""OpenCode sessions: the database, the earlier folder of files, and `opencode export`."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reviewer.sources.databases import Connection, capped, column, columns
from reviewer.sources.document import Document
from reviewer.sources.fields import Fields, each, inner, moment, nanoseconds, words, written_object
from reviewer.sources.format import Format, Location
from reviewer.sources.formats.session_tables import (
    UNREADABLE,
    MessageRow,
    SessionTables,
    stored_json,
)
from reviewer.sources.lines import opened_file
from reviewer.sources.parts import Part, called, returned, said, thought, typed
from reviewer.sources.reading import Reading, Spot, decoded, row_spot, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn

LARGEST_FILE = 64_000_000
MAX_FILES = 200_000


class _Session(Session, kw_only=True):
    reverted: str
    """The first undone message."""
    is_undone: bool = False
    """Whether the current message, and all after it, were undone."""


def _session(info: Fields, modified_ns: int = 0) -> _Session:
    return _Session(
        id=words(info.get("id")),
        cwd=words(info.get("directory")),
        subagent=bool(info.get("parentID")),
        modified_ns=modified_ns,
        version=words(info.get("version")),
        reverted=words(inner(info, "revert").get("messageID")),
    )


def _document_turns(reading: Reading) -> Iterator[Turn]:
    head, messages = Document(reading).parted("messages")
    session = _session(inner(head, "info"))
    for spot, message in messages:
        parts = list(each(message.get("parts")))
        yield _turn(reading.tally, session, spot, inner(message, "info"), parts)


def _turn(
    tally: Counter[str], session: _Session, spot: Spot, info: Fields, pieces: list[Fields]
) -> Turn:
    """The turn of a message; called for a session's messages in order."""
    role = Role.USER if info.get("role") == "user" else Role.ASSISTANT
    compaction = any(piece.get("type") == "compaction" for piece in pieces)
    parts: list[Part] = []
    for number, piece in enumerate(pieces):
        parts += _parts(tally, info, piece, role, compaction, f"{spot.line_start}.{number}")
    name = words(info.get("id"))
    session.enter(session.id or words(info.get("sessionID")))
    session.is_undone = session.is_undone or bool(name and name == session.reverted)
    return session.turn(
        spot,
        role,
        parts,
        key=name if name != "REDACTED" else "",
        at=moment(inner(info, "time").get("created")),
        rewound=session.is_undone,
        cwd=words(inner(info, "path").get("cwd")),
        model=words(info.get("modelID")) or words(inner(info, "model").get("modelID")),
    )


def _parts(
    tally: Counter[str], info: Fields, piece: Fields, role: Role, compaction: bool, number: str
) -> list[Part]:
    kind, text = words(piece.get("type")), words(piece.get("text"))
    if kind == "text":
        if piece.get("synthetic") or piece.get("ignored") or compaction:
            return said(text, RecordUse.WRAPPER)
        if role is Role.USER:
            return typed(text, tally)
        return said(text, RecordUse.SUMMARY if info.get("summary") is True else None)
    if kind == "reasoning":
        return thought(text)
    if kind == "tool":
        return _tool(piece, number)
    if kind == "subtask":  # a command template, for a sub-agent
        return said(words(piece.get("prompt")), RecordUse.WRAPPER)
    if kind == "file":
        name = words(piece.get("filename")) or words(piece.get("mime")) or "file"
        return said(f"[{name}]", RecordUse.WRAPPER)
    silent(tally, kind)
    return []


def _tool(piece: Fields, number: str) -> list[Part]:
    state = inner(piece, "state")
    name, call = piece.get("tool"), words(piece.get("callID"))
    call = call if call and call != "REDACTED" else number
    found = called(name, state.get("input"), call)
    if state.get("status") in ("completed", "error"):
        failed = state.get("status") == "error"
        output = state.get("error") if failed else state.get("output")
        code = inner(state, "metadata").get("exit")
        found += returned(output, call, name, error=failed, code=code)
    return found


def _turns(reading: Reading) -> Iterator[Turn]:
    if reading.document is None:
        return _TABLES.turns(reading)
    document = Document(reading)
    named = document.fields(document.root)
    if "messages" in named:
        return _document_turns(reading)
    return _folder_turns(reading, document.plain(named))


def _sessions(database: Connection, path: Path) -> list[_Session]:
    known = columns(database, "session")
    rows = database.execute(
        f"SELECT id, directory, version, {column(known, 'parent_id')},"
        f" {column(known, 'revert')}, {column(known, 'time_updated')}"
        " FROM session ORDER BY time_created, id"
    ).fetchall()
    sessions = []
    for name, directory, version, parent, revert, updated in rows:
        info = {"id": name, "directory": directory, "version": version}
        info |= {"parentID": parent, "revert": stored_json(revert, Counter())}
        sessions.append(_session(info, nanoseconds(updated)))
    return sessions


def _messages(database: Connection) -> str:
    return (
        f"SELECT id, {capped('data')} FROM message WHERE session_id = ? ORDER BY time_created, id"
    )


def _stored_turn(session: _Session, row: MessageRow) -> Turn | None:
    name, data = row.values
    info = stored_json(data, row.tally)
    if not isinstance(info, dict):
        return None
    pieces, raw = [], [words(data)]
    for number, text in row.database.execute(
        f"SELECT id, {capped('data')} FROM part WHERE message_id = ? ORDER BY id", (name,)
    ):
        piece = stored_json(text, row.tally)
        if isinstance(piece, dict):
            pieces.append({**piece, "id": number})
            raw.append(words(text))
        else:
            row.tally[UNREADABLE] += 1
    return _turn(row.tally, session, row.spot("\n".join(raw)), {**info, "id": name}, pieces)


_TABLES = SessionTables(sessions=_sessions, messages=_messages, turn=_stored_turn)


def _outlines(path: Path) -> list[_Session]:
    """The sessions of the database; a file of the storage folder is one session."""
    if path.suffix != ".json":
        return _TABLES.outlines(path)
    with opened_file(path) as stream:
        info = written_object(stream.read(LARGEST_FILE).decode("utf-8", "replace"))
    return [_session({**info, "id": ""})]


def _folder_turns(reading: Reading, info: Fields) -> Iterator[Turn]:
    """The messages of a session in the storage folder: one file per message and per part."""
    session = _session(info)
    storage = storage_of(reading.path)
    name = session.id
    if storage is None or not name or "/" in name:
        reading.tally["session without messages"] += 1
        return
    order: list[tuple[str, Fields, str]] = []
    for file in _files(storage / "message" / name):
        message = _file(reading, file)
        if message:
            created = moment(inner(message, "time").get("created")) or ""
            order.append((created, message, file.stem))
    order.sort(key=lambda found: (found[0], found[2]))
    for row, (_, message, stem) in enumerate(order):
        name = words(message.get("id")) or stem
        files = [] if "/" in name else _files(storage / "part" / name)
        parts = [part for file in files if (part := _file(reading, file))]
        raw = repr((message, parts)).encode("utf-8", "replace")
        yield _turn(reading.tally, session, row_spot(row, raw), {**message, "id": name}, parts)


def storage_of(session_file: Path) -> Path | None:
    """The storage folder of a session's file, `storage/session/PROJECT/SESSION.json`."""
    storage = session_file.parent.parent.parent
    return storage if session_file.parent.parent.name == "session" else None


def _files(folder: Path) -> list[Path]:
    """The files of a folder by name; links are skipped, so that nothing outside it is read."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    found = [file for file in folder.iterdir() if file.suffix == ".json"]
    plain = [file for file in found if stat.S_ISREG(file.lstat().st_mode)]
    return sorted(plain)[:MAX_FILES]


def _file(reading: Reading, file: Path) -> Fields:
    with opened_file(file) as stream:
        data = stream.read(LARGEST_FILE)
    try:
        value = decoded(data, reading.tally)
    except (ValueError, RecursionError) as problem:
        reading.damaged(str(file), problem)
        return {}
    return value if isinstance(value, dict) else {}


def _is_session(document: Fields) -> bool:
    info = document.get("info")
    if isinstance(info, dict) and isinstance(document.get("messages"), list):
        return "time" in info and ("directory" in info or "projectID" in info or "id" in info)
    return "projectID" in document and "directory" in document and "time" in document


FORMAT = Format(
    name="opencode",
    agent="OpenCode",
    detect_document=_is_session,
    detect_tables=lambda names: {"session", "message", "part", "project"} <= set(names),
    outlines=_outlines,
    turns=_turns,
    locations=(
        Location(folder=".local/share/opencode", pattern="opencode*.db", variable="XDG_DATA_HOME"),
        Location(folder=".local/share/opencode/storage/session", pattern="*/*.json",
                 variable="XDG_DATA_HOME"),
    ),
    tested="real files: export 1.2, folder, database 1.18",
)  # fmt: skip
