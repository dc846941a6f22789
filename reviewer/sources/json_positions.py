"""JSON values together with where they stand, without decoding what is inside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Raw

BETWEEN = re.compile(rb"[\s,:]*+")
HALVES = re.compile("[\ud800-\udfff]")
STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)

_list = msgspec.json.Decoder(list[Raw])
_dict = msgspec.json.Decoder(dict[str, Raw])
_text = msgspec.json.Decoder(str)


def first_byte(value: memoryview) -> bytes:
    """The byte that tells what kind of value this is."""
    return bytes(value[:1])


def items(value: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The items of a JSON array as (offset within it, bytes).

    Raises msgspec.DecodeError or RecursionError when it cannot be read.
    """
    position = 1
    for raw in _list.decode(value):
        piece = memoryview(raw)
        position = _skip(value, position)
        yield position, piece
        position += len(piece)


def fields(value: memoryview) -> dict[str, tuple[int, memoryview]]:
    """The fields of a JSON object: name -> (offset of the value within it, bytes).

    Raises msgspec.DecodeError or RecursionError when it cannot be read. Of a name that
    stands twice the last holds; fields after a doubled one that is no text are left out.
    """
    try:
        decoded = _dict.decode(value)
    except UnicodeDecodeError:  # in a name: values are not decoded here
        value = _readable(value)
        decoded = _dict.decode(value)
    found: dict[str, tuple[int, memoryview]] = {}
    position = _skip(value, 1)
    while name := STRING.match(value, position):
        key = _text.decode(name[0])
        position = _skip(value, name.end())
        piece = memoryview(decoded[key])
        if value[position : position + len(piece)] == piece:
            found[key] = (position, piece)
            position += len(piece)
        elif earlier := STRING.match(value, position):  # a name that stands again further on
            position = earlier.end()
        else:
            break
        position = _skip(value, position)
    return found


def _readable(value: memoryview) -> memoryview:
    """The same bytes with a question mark for each one that is no UTF-8, so that places hold."""
    text = bytes(value).decode("utf-8", "surrogateescape")
    return memoryview(HALVES.sub("?", text).encode())


def outline(value: memoryview, depth: int = 4) -> object:
    """A JSON value cut down to what tells formats apart.

    Names, short scalars, and the first items of lists, `depth` levels down; None for the rest.
    """
    kind = first_byte(value)
    if kind == b"{" and depth:
        inside = _dict.decode(value).items()
        return {name: outline(memoryview(inner), depth - 1) for name, inner in inside}
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
