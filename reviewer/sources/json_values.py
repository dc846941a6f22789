"""JSON values with their positions, undecoded; intact objects inside damaged JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

PIECES_LIMIT = 100_000
FAILURES_LIMIT = 20
BETWEEN = re.compile(rb"[\s,:]*+")
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)

_decoder = json.JSONDecoder()
_list = msgspec.json.Decoder(list[Raw])
_dict = msgspec.json.Decoder(dict[str, Raw])


def first_byte(value: memoryview) -> bytes:
    """The byte that shows the type of this value."""
    return bytes(value[:1])


def items(value: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The items of a JSON array as (offset within it, bytes).

    Raises msgspec.DecodeError or RecursionError if it cannot be read.
    """
    position = 1
    for raw in _list.decode(value):
        piece = memoryview(raw)
        position = _skip(value, position)
        yield position, piece
        position += len(piece)


def fields(value: memoryview) -> dict[str, tuple[int, memoryview]]:
    """The fields of a JSON object: name -> (offset of the value within it, bytes).

    Raises msgspec.DecodeError or RecursionError if it cannot be read.
    """
    named = _dict.decode(value)
    found: dict[str, tuple[int, memoryview]] = {}
    position = _skip(value, 1)
    for name, raw in named.items():
        written = STRING.match(value, position)
        if written is None:
            break
        position = _skip(value, written.end())
        found[name] = (position, memoryview(raw))
        position = _skip(value, position + len(memoryview(raw)))
    if first_byte(value[position:]) != b"}":
        whole = bytes(value)  # a name is repeated, and its last value counts
        return {name: (whole.rfind(raw), memoryview(raw)) for name, raw in named.items()}
    return found


def outline(value: memoryview, depth: int = 4) -> object:
    """A JSON value reduced to names, short scalars and the first items of lists, `depth` levels
    deep: enough to recognise formats. The rest becomes None.
    """
    kind = first_byte(value)
    if kind == b"{" and depth:
        inside = _dict.decode(value)
        return {name: outline(memoryview(inner), depth - 1) for name, inner in inside.items()}
    if kind == b"[" and depth:
        return [outline(memoryview(inner), depth - 1) for inner in _list.decode(value)[:5]]
    if kind in b"{[" or len(value) > 200:
        return None
    try:
        decoded: object = msgspec.json.decode(value)
    except UnicodeDecodeError:
        return None
    return decoded


def _skip(value: memoryview, position: int) -> int:
    between = BETWEEN.match(value, position)
    return between.end() if between else position


def json_pieces(line: bytes) -> Iterator[tuple[int, bytes]]:
    """Every intact object of the line, as (offset, bytes).

    Finds concatenated records, and records after a truncated one. Gives up after a few positions
    that do not decode, so that a garbage line costs little.
    """
    text = line.decode("latin-1")  # one character a byte; JSON's own signs are ASCII
    start, failures = text.find("{"), 0
    for _ in range(PIECES_LIMIT):
        if start < 0 or failures > FAILURES_LIMIT:
            return
        try:
            end = _decoder.raw_decode(text, start)[1]
        except (ValueError, RecursionError):
            failures += 1
            # A record starts with a quoted key; skip anything else.
            start = text.find('{"', start + 1)
            continue
        yield start, line[start:end]
        start = text.find("{", end)
