"""Cursor: the editor's database (2024 and later) and the transcripts of its agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reviewer.sources.anthropic_parts import message_parts, speaker
from reviewer.sources.chat import has_role
from reviewer.sources.databases import Connection, capped, opened, tables
from reviewer.sources.formats import Facts, Format, Location, SessionOutline
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.lines import TextForm
from reviewer.sources.records import Role, Use
from reviewer.sources.source import Source
from reviewer.sources.turns import (
    STATE,
    TWICE,
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

_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_TOOL = 15
"""The `capabilityType` of a bubble that is a tool call."""
_CHAT = "workbench.panel.aichat.view.aichat.chatdata"
_COMPOSERS = "composer.composerData"


def _turns(reading: Reading) -> Iterator[Turn]:
    """The chats of a database; a bubble counts as a line."""
    present = tables(reading.path)
    with opened(reading.path) as database:
        rows = _Rows(reading)
        if "ItemTable" in present:
            for key in (_CHAT, _COMPOSERS, "aiService.prompts"):
                value = rows.value(database, "ItemTable", key)
                if key == "aiService.prompts":
                    reading.tally[TWICE] += len(list(each(value)))
                    continue
                named = "tabs" if key == _CHAT else "allComposers"
                for chat in each(inner(value).get(named)):
                    yield from _chat(rows, chat)
        if "cursorDiskKV" in present:
            keys = database.execute(
                "SELECT key FROM cursorDiskKV WHERE key >= 'composerData:'"
                " AND key < 'composerData;' ORDER BY key"
            ).fetchall()
            for (key,) in keys:
                composer = inner(rows.value(database, "cursorDiskKV", key))
                yield from _composer(rows, database, composer)


class _Rows:
    """Numbers the bubbles, and reads values."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.next = 0

    def value(self, database: Connection, table: str, key: str) -> object:
        """The decoded value of a key; None if there is none or it cannot be read."""
        row = database.execute(
            f"SELECT {capped('value')} FROM {table} WHERE key = ?", (key,)
        ).fetchone()
        if row is None or row[0] is None:
            return None
        raw = row[0].encode("utf-8", "replace") if isinstance(row[0], str) else bytes(row[0])
        try:
            return decoded(raw, self.reading.tally)
        except (ValueError, RecursionError):
            self.reading.tally["row that cannot be read"] += 1
            return None

    def turn(self, session: str, bubble: Fields, parts: list[Part], at: object, cwd: str) -> Turn:
        person = bubble.get("type") in (1, "user")
        name = words(bubble.get("bubbleId")) or words(bubble.get("id"))
        row = self.next
        self.next += 1
        return Turn(
            spot=row_spot(row, "\n".join(part.text for part in parts)),
            role=Role.USER if person else Role.ASSISTANT,
            parts=parts,
            key=f"{session}:{name}" if name else "",
            at=moment(bubble.get("createdAt")) or moment(at),
            session=session or None,
            cwd=cwd,
            model=words(bubble.get("modelType"))
            or words(inner(bubble, "modelInfo").get("modelName")),
        )


def _outlines(path: Path) -> list[SessionOutline]:
    """The composers of a database; the chats of a workspace lie beside its `workspace.json`."""
    present = tables(path)
    found: list[SessionOutline] = []
    reading = Reading(Source(path, TextForm(), (0, 0)))
    rows = _Rows(reading)
    with opened(path) as database:
        if "ItemTable" in present:
            for key, named, name in (
                (_CHAT, "tabs", "tabId"),
                (_COMPOSERS, "allComposers", "composerId"),
            ):
                chats = each(inner(rows.value(database, "ItemTable", key)).get(named))
                found += [
                    SessionOutline(words(chat.get(name)))
                    for chat in chats
                    if chat.get("bubbles") or chat.get("conversation")
                ]
        if "cursorDiskKV" in present:
            for (key,) in database.execute(
                "SELECT key FROM cursorDiskKV WHERE key >= 'composerData:'"
                " AND key < 'composerData;'"
            ).fetchall():
                composer = inner(rows.value(database, "cursorDiskKV", key))
                cwd = words(inner(composer, "workspaceIdentifier", "uri").get("fsPath"))
                found.append(SessionOutline(words(composer.get("composerId")), cwd))
    return found


def _chat(rows: _Rows, chat: Fields) -> Iterator[Turn]:
    """A chat with its bubbles in it; only the chat has a time."""
    session = words(chat.get("tabId")) or words(chat.get("composerId"))
    at = chat.get("createdAt") or chat.get("lastSendTime")
    bubbles = chat.get("bubbles") if "bubbles" in chat else chat.get("conversation")
    for bubble in each(bubbles):
        parts = _parts(rows.reading, bubble)
        yield rows.turn(session, bubble, parts, at, "")


def _composer(rows: _Rows, database: Connection, composer: Fields) -> Iterator[Turn]:
    session = words(composer.get("composerId"))
    cwd = words(inner(composer, "workspaceIdentifier", "uri").get("fsPath"))
    at = composer.get("createdAt")
    if composer.get("conversation"):
        yield from _chat(rows, composer)
    for head in each(composer.get("fullConversationHeadersOnly")):
        key = f"bubbleId:{session}:{words(head.get('bubbleId'))}"
        bubble = inner(rows.value(database, "cursorDiskKV", key))
        if bubble:
            yield rows.turn(session, bubble, _parts(rows.reading, bubble), at, cwd)
        else:
            rows.reading.tally["bubble that is missing"] += 1


def _parts(reading: Reading, bubble: Fields) -> list[Part]:
    text = words(bubble.get("text")) or words(bubble.get("rawText"))
    if bubble.get("type") in (1, "user"):
        return [typed(text, reading.tally)] if text.strip() else []
    parts = thought(inner(bubble, "thinking").get("text"))
    if text.strip():
        parts.append(said(text))
    tool = inner(bubble, "toolFormerData")
    if tool:
        call = tool.get("toolCallId")
        given = tool.get("rawArgs") or tool.get("params")
        parts.append(called(tool.get("name"), given, call))
        if "result" in tool:
            failed = tool.get("status") in ("error", "cancelled")
            parts.append(returned(tool.get("result"), call, tool.get("name"), error=failed))
    return parts


def _log_turns(reading: Reading) -> Iterator[Turn]:
    """A transcript of the agent; it has neither times nor ids."""
    session = reading.path.stem
    apart = reading.path.parent.name == "subagents"
    chain = Chain(session)
    for spot, record in reading.objects():
        message = inner(record, "message")
        person = record.get("role") == "user"
        role = Role.USER if person else Role.ASSISTANT
        parts = [
            query(part) if person else part
            for part in message_parts(role, message.get("content"), reading.tally)
            if part.text != "[REDACTED]"
        ]
        if not parts:
            reading.tally[STATE] += 1
            continue
        role = speaker(role, parts)
        yield Turn(
            spot=spot,
            role=Role.ASSISTANT if apart and role is Role.USER else role,
            parts=parts,
            key=chain.key(role, *(part.kind + part.call + part.text for part in parts)),
            at=moment(record.get("timestamp")),
            session=session,
            sidechain=apart,
        )


def query(part: Part) -> Part:
    """The person's words of a text that has them between tags."""
    start = part.text.find(_QUERY)
    if part.kind != "text" or start < 0:
        return part
    end = part.text.rfind(_QUERY_END)
    inside = part.text[start + len(_QUERY) : end if end > start else None]
    return said(inside.strip(), Use.MESSAGE)


def _is_log(record: Outline) -> bool:
    message = record.get("message")
    return (
        has_role(record)
        and isinstance(message, dict)
        and "content" in message
        and "role" not in message
        and "type" not in record
    )


EDITOR = Format(
    name="cursor",
    agent="Cursor",
    detect_tables=lambda names: bool({"ItemTable", "cursorDiskKV"} & set(names)),
    turns=_turns,
    outlines=_outlines,
    locations=tuple(
        Location(
            folder=f".config/Cursor/User/{folder}",
            mac=f"Library/Application Support/Cursor/User/{folder}",
            windows=f"%APPDATA%/Cursor/User/{folder}",
            pattern=pattern,
            variable="XDG_CONFIG_HOME",
            moves=".config",
        )
        for folder, pattern in (
            ("globalStorage", "state.vscdb"),
            ("workspaceStorage", "*/state.vscdb"),
        )
    ),
    facts=Facts(
        person="bubbles of type 1 or `user`",
        left_out="`aiService.prompts`, which repeats them without answers",
        folder="`workspaceIdentifier` (from 3.12), or `workspace.json` beside the database",
        compaction="not recorded",
        rewind="not recorded",
        subagent="not recorded",
        tested="a real file of 2024; fixtures of the later tables",
    ),
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
            moves=".cursor",
            of_subagents="subagents" in pattern,
        )
        for pattern in ("*/*.jsonl", "*.jsonl", "*/subagents/*.jsonl")
    ),
    facts=Facts(
        person="`user` messages, between `<user_query>` tags where there are any",
        left_out="results of tools",
        folder="the name of the folder, which is lossy",
        subagent="files in `subagents/`",
        tested="fixtures",
    ),
)
