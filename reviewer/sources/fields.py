"""Typed values from decoded JSON of any shape; a value of the wrong type counts as absent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

import msgspec

from reviewer.clock import iso, written_moment

Fields: TypeAlias = dict[str, object]
"""A decoded JSON object."""
OLDER_THAN_SECONDS = 1e11
"""Larger numbers are milliseconds since 1970, not seconds."""
_EPOCH = re.compile("[0-9]{1,20}")


def words(value: object) -> str:
    """The value if it is a string, else empty."""
    return value if isinstance(value, str) else ""


def inner(value: object, *names: str) -> Fields:
    """A nested object, found by its path of names; empty if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def each(value: object) -> Iterator[Fields]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def first(value: Fields, *names: str) -> object:
    """The first of some fields present in an object."""
    return next((value[name] for name in names if name in value), None)


def written_object(text: object) -> Fields:
    """The JSON object in a string; empty for anything else."""
    try:
        return inner(msgspec.json.decode(words(text)))
    except (ValueError, RecursionError):
        return {}


def folder_of_uri(uri: object) -> str:
    """The path of a `file:` URI, in which editors store working folders."""
    parts = urlsplit(words(uri))
    path = unquote(parts.path) if parts.scheme in ("file", "vscode-remote") else ""
    return path[1:] if len(path) > 2 and path[2] == ":" else path


def moment(*values: object) -> str | None:
    """The first time among some values, as ISO 8601: from ISO text, or from seconds or milliseconds
    since 1970.
    """
    return next(filter(None, map(_moment, values)), None)


def _moment(value: object) -> str | None:
    if isinstance(value, str):
        if not _EPOCH.fullmatch(value):
            return written_moment(value)
        value = int(value)
    seconds = _seconds(value)
    return iso(datetime.fromtimestamp(seconds, UTC)) if seconds else None


def nanoseconds(value: object) -> int:
    """A time in seconds or milliseconds since 1970 as nanoseconds; 0 if it is not a time."""
    return int(_seconds(value) * 1e9)


def _seconds(value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return 0
    seconds = value / 1000 if value > OLDER_THAN_SECONDS else value
    return seconds if 0 < seconds < 4e9 else 0
