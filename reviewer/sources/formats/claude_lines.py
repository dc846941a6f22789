"""One line of a Claude Code session as typed values, tolerant of any shape."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from reviewer.sources.fields import Fields, is_among
from reviewer.sources.tool_text import result_text

_RECORD_TYPES = frozenset(
    ("user", "assistant", "system", "summary", "progress", "file-history-snapshot")
).union(("queue-operation", "attachment"))


def is_claude(record: Fields) -> bool:
    """Whether an outlined object is a Claude Code record."""
    kind = record.get("type")
    if not is_among(kind, _RECORD_TYPES) or "systemPayload" in record:
        return False
    if kind == "summary":
        return "leafUuid" in record
    if kind in ("file-history-snapshot", "queue-operation"):
        return "snapshot" in record or "sessionId" in record
    message = record.get("message")
    if isinstance(message, dict) and "parts" in message:
        return False
    return "sessionId" in record and ("uuid" in record or "parentUuid" in record)


class ContentBlock(Struct, gc=False):
    """A block of a message, or a part of a result."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = Raw(b"null")
    tool_use_id: str | None = None
    content: str | list[ContentBlock] | None = None
    is_error: bool | None = None


class ClaudeMessage(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: str | list[ContentBlock] | None = None


class MessageOrigin(Struct, gc=False):
    """Who a text came from, where newer versions say so."""

    kind: str | None = None


class Attachment(Struct, rename="camel", gc=False):
    """What the agent was given beside the messages; only queued prompts are read."""

    type: str | None = None
    prompt: Raw = Raw(b"null")
    command_mode: str | None = None
    is_meta: bool | None = None
    origin: MessageOrigin | None = None


class KeptMessages(Struct, rename="camel", gc=False):
    """The last messages, which a compaction kept."""

    anchor_uuid: str | None = None
    tail_uuid: str | None = None


class CompactMetadata(Struct, rename="camel", gc=False):
    preserved_segment: KeptMessages | None = None


class ClaudeLine(Struct, rename="camel", gc=False):
    """The fields that reviewer needs; all others are skipped without decoding them."""

    type: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    operation: str | None = None
    subtype: str | None = None
    user_feedback: str | None = None
    prompt_source: str | None = None
    message: ClaudeMessage | str | None = None
    content: Raw = Raw(b"null")
    attachment: Attachment | None = None
    origin: MessageOrigin | None = None
    compact_metadata: CompactMetadata | None = None


_lines = msgspec.json.Decoder(ClaudeLine)
_contents = msgspec.json.Decoder(str | list[ContentBlock] | None)
_objects = msgspec.json.Decoder(dict[str, Raw])


def decode_line(data: bytes) -> ClaudeLine:
    """The typed line. Raises ValueError or RecursionError when it is not a JSON object."""
    try:
        return _lines.decode(data)
    except msgspec.ValidationError:
        return _fitting_line(_objects.decode(data))


def content_of(raw: Raw) -> str | list[ContentBlock] | None:
    """A message's content; of an odd one the parts that can be read."""
    try:
        content: str | list[ContentBlock] | None = _contents.decode(raw)
    except msgspec.ValidationError:
        return _odd_content(raw)
    return content


def _fitting_line(fields: dict[str, Raw]) -> ClaudeLine:
    line = _fitting(ClaudeLine, fields)
    if line.message is None and (inside := _fields(fields.get("message"))):
        line.message = _fitting(ClaudeMessage, inside)
        if line.message.content is None and "content" in inside:
            line.message.content = _odd_content(inside["content"])
    if line.attachment is None and (inside := _fields(fields.get("attachment"))):
        line.attachment = _fitting(Attachment, inside)
    return line


def _fields(raw: Raw | None) -> dict[str, Raw]:
    """The fields of an object; nothing for anything else."""
    return _objects.decode(raw) if raw is not None and bytes(memoryview(raw)[:1]) == b"{" else {}


def _odd_content(raw: Raw) -> list[ContentBlock]:
    """Content in which something has an unexpected type, block by block."""
    pieces: list[ContentBlock] = []
    if bytes(memoryview(raw)[:1]) != b"[":
        return pieces
    for item in msgspec.json.decode(raw, type=list[Raw]):
        if bytes(memoryview(item)[:1]) == b'"':
            pieces.append(ContentBlock("text", msgspec.json.decode(item, type=str)))
        elif fields := _fields(item):
            piece = _fitting(ContentBlock, fields)
            if piece.content is None and "content" in fields:
                piece.content = result_text(fields["content"])
            pieces.append(piece)
    return pieces


_Fields = TypeVar("_Fields", bound=Struct)


@lru_cache(maxsize=16)
def _fields_of(kind: type[Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _fitting(kind: type[_Fields], fields: dict[str, Raw]) -> _Fields:
    """A struct with the fields that have the expected type; the others get their default."""
    made = kind()
    for field in _fields_of(kind):
        if field.encode_name in fields:
            try:
                value = msgspec.json.decode(fields[field.encode_name], type=field.type)
            except msgspec.ValidationError:
                continue
            setattr(made, field.name, value)
    return made
