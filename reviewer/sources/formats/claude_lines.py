"""One line of a Claude Code session as typed values, whatever its shape."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

import msgspec
from msgspec import Struct

from reviewer.sources.fields import Fields, inner
from reviewer.sources.tool_text import part_text

_RECORD_TYPES = (
    "user", "assistant", "system", "summary", "progress", "file-history-snapshot",
    "queue-operation", "attachment",
)  # fmt: skip


def is_claude(record: Fields) -> bool:
    kind = record.get("type")
    if kind not in _RECORD_TYPES or "systemPayload" in record:
        return False
    if kind == "summary":
        return "leafUuid" in record
    if kind in ("file-history-snapshot", "queue-operation"):
        return "snapshot" in record or "sessionId" in record
    if "parts" in inner(record, "message"):
        return False
    return "sessionId" in record and ("uuid" in record or "parentUuid" in record)


class ContentBlock(Struct, gc=False):
    """A block of a message, or a part of a result."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: object = None
    tool_use_id: str | None = None
    content: str | list[ContentBlock] | None = None
    is_error: bool | None = None


class ClaudeMessage(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: str | list[ContentBlock] | None = None


class Attachment(Struct, rename="camel", gc=False):
    """Attachments given to the agent beside the messages; only queued prompts are read."""

    type: str | None = None
    prompt: str | list[ContentBlock] | None = None
    command_mode: str | None = None
    is_meta: bool | None = None
    origin: Fields | None = None


class ClaudeLine(Struct, rename="camel", gc=False):
    """The fields that reviewer needs; all others are skipped without decoding."""

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
    content: str | list[ContentBlock] | None = None
    attachment: Attachment | None = None
    origin: Fields | None = None
    compact_metadata: Fields | None = None


_lines = msgspec.json.Decoder(ClaudeLine)
_objects = msgspec.json.Decoder(dict[str, object])


def decode_line(data: bytes) -> ClaudeLine:
    """The typed line; the readable parts of a malformed one. Raises ValueError or RecursionError if
    it is not a JSON object.
    """
    try:
        return _lines.decode(data)
    except msgspec.ValidationError:
        fields = _objects.decode(data)
    line = _fitting(ClaudeLine, fields)
    if line.message is None and (inside := inner(fields, "message")):
        line.message = _fitting(ClaudeMessage, inside)
        line.message.content = line.message.content or list(_odd_blocks(inside.get("content")))
    return line


def _odd_blocks(content: object) -> Iterator[ContentBlock]:
    for item in content if isinstance(content, list) else ():
        if isinstance(item, str):
            yield ContentBlock("text", item)
        elif isinstance(item, dict):
            block = _fitting(ContentBlock, item)
            block.content = block.content or part_text(item.get("content"))
            yield block


_Fields = TypeVar("_Fields", bound=Struct)


def _fitting(kind: type[_Fields], values: Fields) -> _Fields:
    """A struct with the values of the expected type; the others get their default."""
    made = kind()
    for field in msgspec.structs.fields(kind):
        if field.encode_name in values:
            with suppress(msgspec.ValidationError):
                value = msgspec.convert(values[field.encode_name], field.type)
                setattr(made, field.name, value)
    return made
