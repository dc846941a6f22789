"""Cursor: the editor's database (2024 and later) and the transcripts of its agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from reviewer.sources.anthropic_parts import message_parts, speaker
from reviewer.sources.chat import has_role
from reviewer.sources.databases import Connection, capped, opened, table_names
from reviewer.sources.formats import Facts, Format, Location, SessionOutline
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.records import Role, Use
from reviewer.sources.session_tables import UNREADABLE, UnreadableRowError, stored_json
from reviewer.sources.turns import (
    RECORDED_TWICE,
    SESSION_STATE,
    Chain,
    Fields,
    Part,
    Reading,
    Turn,
    called,
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
_CHATS = (
    ("workbench.panel.aichat.view.aichat.chatdata", "tabs"),
    ("composer.composerData", "allComposers"),
)
"""The keys of a workspace's chats, and the list in the value."""
_PROMPTS = "aiService.prompts"


class _Values(Struct, frozen=True):
    """The JSON values of the editor's tables, which have a key and a value in each row."""

    database: Connection
    tally: Counter[str]

    def value(self, table: str, key: str) -> object:
        """The decoded value of a key; None if there is none or it cannot be read."""
        row = self.database.execute(
            f"SELECT {capped('value')} FROM {table} WHERE key = ?", (key,)
        ).fetchone()
        if row is None or row[0] is None:
            return None
        try:
            return stored_json(row[0], self.tally)
        except UnreadableRowError:
            self.tally[UNREADABLE] += 1
            return None


class _Conversation(Struct, frozen=True):
    session: str
    at: object
    cwd: str
    bubbles: Iterator[Fields]


def _conversations(values: _Values) -> Iterator[_Conversation]:
    """The chats of a workspace, which have their bubbles in them, and the composers, whose bubbles
    are values of their own since 2025.
    """
    tables = table_names(values.database)
    if "ItemTable" in tables:
        for key, named in _CHATS:
            for chat in each(inner(values.value("ItemTable", key)).get(named)):
                if chat.get("bubbles") or chat.get("conversation"):
                    yield _conversation(chat, _inside(chat))
    if "cursorDiskKV" in tables:
        keys = values.database.execute(
            "SELECT key FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'"
            " ORDER BY key"
        ).fetchall()
        for (key,) in keys:
            composer = inner(values.value("cursorDiskKV", key))
            yield _conversation(composer, _of_composer(values, composer))


def _conversation(facts: Fields, bubbles: Iterator[Fields]) -> _Conversation:
    return _Conversation(
        session=words(facts.get("tabId")) or words(facts.get("composerId")),
        at=facts.get("createdAt") or facts.get("lastSendTime"),
        cwd=words(inner(facts, "workspaceIdentifier", "uri").get("fsPath")),
        bubbles=bubbles,
    )


def _inside(chat: Fields) -> Iterator[Fields]:
    return each(chat.get("bubbles") if "bubbles" in chat else chat.get("conversation"))


def _of_composer(values: _Values, composer: Fields) -> Iterator[Fields]:
    yield from _inside(composer)
    session = words(composer.get("composerId"))
    for head in each(composer.get("fullConversationHeadersOnly")):
        key = f"bubbleId:{session}:{words(head.get('bubbleId'))}"
        bubble = inner(values.value("cursorDiskKV", key))
        if bubble:
            yield bubble
        else:
            values.tally["bubble that is missing"] += 1


def _turns(reading: Reading) -> Iterator[Turn]:
    """The conversations of a database; a bubble counts as a line."""
    row = 0
    with opened(reading.path) as database:
        values = _Values(database, reading.tally)
        if "ItemTable" in table_names(database):
            reading.tally[RECORDED_TWICE] += len(list(each(values.value("ItemTable", _PROMPTS))))
        for conversation in _conversations(values):
            for bubble in conversation.bubbles:
                yield _turn(reading.tally, row, conversation, bubble)
                row += 1


def _turn(tally: Counter[str], row: int, conversation: _Conversation, bubble: Fields) -> Turn:
    parts = _parts(tally, bubble)
    name = words(bubble.get("bubbleId")) or words(bubble.get("id"))
    return Turn(
        spot=row_spot(row, "\n".join(part.text for part in parts)),
        role=Role.USER if bubble.get("type") in (1, "user") else Role.ASSISTANT,
        parts=parts,
        key=f"{conversation.session}:{name}" if name else "",
        at=moment(bubble.get("createdAt")) or moment(conversation.at),
        session=conversation.session or None,
        cwd=conversation.cwd,
        model=words(bubble.get("modelType")) or words(inner(bubble, "modelInfo").get("modelName")),
    )


def _outlines(path: Path) -> list[SessionOutline]:
    """The conversations; those of a workspace have their folder in `workspace.json` beside it."""
    with opened(path) as database:
        found = _conversations(_Values(database, Counter()))
        return [SessionOutline(one.session, one.cwd) for one in found]


def _parts(tally: Counter[str], bubble: Fields) -> list[Part]:
    text = words(bubble.get("text")) or words(bubble.get("rawText"))
    if bubble.get("type") in (1, "user"):
        return [typed(text, tally)] if text.strip() else []
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
            reading.tally[SESSION_STATE] += 1
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
