"""Telling a record of Claude Code at a glance: in one go, without decoding what is inside it."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from reviewer.sources.formats import is_claude

CLAUDE_RECORD: dict[str, object] = {"type": "user", "sessionId": "", "uuid": ""}
"""What tells a record of Claude Code, and nothing else of it."""


class _Message(Struct):
    parts: Raw | UnsetType = UNSET


class _Sign(Struct, rename="camel"):
    """The fields that `formats.is_claude` looks at."""

    type: str
    message: _Message | UnsetType = UNSET
    system_payload: Raw | UnsetType = UNSET
    leaf_uuid: Raw | UnsetType = UNSET
    snapshot: Raw | UnsetType = UNSET
    session_id: Raw | UnsetType = UNSET
    uuid: Raw | UnsetType = UNSET
    parent_uuid: Raw | UnsetType = UNSET


_NAMES = tuple(field.encode_name for field in msgspec.structs.fields(_Sign))
_signs = msgspec.json.Decoder(_Sign)


def looks_like_claude(line: bytes) -> bool:
    """Whether a line surely is a record of Claude Code; one of an odd shape may be, too."""
    try:
        sign = _signs.decode(line)
    except (ValueError, RecursionError):
        return False
    record: dict[str, object] = {
        name: "" for name, value in zip(_NAMES, msgspec.structs.astuple(sign), strict=True)
        if value is not UNSET
    }  # fmt: skip
    record["type"] = sign.type
    if isinstance(sign.message, _Message):
        record["message"] = {} if sign.message.parts is UNSET else {"parts": ""}
    return is_claude(record)
