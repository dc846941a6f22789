"""Reads the first values of a deflated MessagePack array without the others.

An act may have a million changes, of which only the first are shown.

MessagePack as it is written (https://github.com/msgpack/msgpack/blob/master/spec.md), walked value
by value.
"""

from __future__ import annotations

import zlib
from struct import unpack_from

LARGEST = 512_000_000
"""Bytes that an array may unpack to; a few megabytes that somebody planted could unpack to many
gigabytes.
"""
PIECE = 65_536
"""Bytes that are inflated at first; as many again as there are, later."""

_PLAIN = {0xC0: 1, 0xC2: 1, 0xC3: 1, 0xCA: 5, 0xCB: 9}
_PLAIN |= {0xCC: 2, 0xCD: 3, 0xCE: 5, 0xCF: 9, 0xD0: 2, 0xD1: 3, 0xD2: 5, 0xD3: 9}
"""Bytes of nil, the booleans, floats and the longer integers, the first byte included."""
_SIZES = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
"""Width of the length field of bytes and texts."""
_COUNTS = {0xDC: (">H", 1), 0xDD: (">I", 1), 0xDE: (">H", 2), 0xDF: (">I", 2)}
"""How the length of arrays and maps is written, and the values that each of their items has."""
_WIDTHS = {">B": 1, ">H": 2, ">I": 4}


class _MissingError(Exception):
    """A value continues beyond the inflated bytes."""


def first_values(blob: bytes, limit: int) -> bytes:
    """The beginning of a deflated array, as an array of at most `limit` of its values.

    Inflates only what they take. Raises ValueError when the blob is damaged.
    """
    inflater = zlib.decompressobj()
    data, rest = b"", blob
    ends: list[int] = []
    total, at = -1, 0
    while total < 0 or len(ends) < min(total, limit):
        try:
            more = inflater.decompress(rest, max(PIECE, len(data)))
        except zlib.error as problem:
            raise ValueError(f"unreadable changes: {problem}") from problem
        rest = inflater.unconsumed_tail
        if not more:
            raise ValueError("unreadable changes: they end too early")
        data += more
        if len(data) > LARGEST:
            raise ValueError(
                f"unreadable changes: they unpack to more than {LARGEST // 1_000_000} MB"
            )
        try:
            if total < 0:
                total, at = _array(data)
            while len(ends) < min(total, limit):
                at = _end(data, at)
                ends.append(at)
        except _MissingError:
            continue
    _, begin = _array(data)
    header = b"\xdd" + len(ends).to_bytes(4, "big")
    return header + data[begin : ends[-1] if ends else begin]


def length_of(data: bytes) -> int:
    """How many values an array has that begins with these bytes. Raises ValueError."""
    try:
        return _array(data)[0]
    except _MissingError:
        raise ValueError("unreadable changes: they end too early") from None


def _array(data: bytes) -> tuple[int, int]:
    """How many values an array has, and where the first one begins."""
    if not data:
        raise _MissingError
    tag = data[0]
    if 0x90 <= tag <= 0x9F:
        return tag & 0x0F, 1
    if tag not in (0xDC, 0xDD):
        raise ValueError("unreadable changes: no list of them")
    shape, _ = _COUNTS[tag]
    return _number(data, 1, shape), 1 + _WIDTHS[shape]


def _end(data: bytes, at: int) -> int:
    """Where the value that begins at `at` ends, its items included."""
    left = 1
    while left:
        if at >= len(data):
            raise _MissingError
        tag = data[at]
        left -= 1
        if tag <= 0x7F or tag >= 0xE0:
            at += 1
        elif tag <= 0x8F:
            left += 2 * (tag & 0x0F)
            at += 1
        elif tag <= 0x9F:
            left += tag & 0x0F
            at += 1
        elif tag <= 0xBF:
            at += 1 + (tag & 0x1F)
        elif tag in _PLAIN:
            at += _PLAIN[tag]
        elif tag in _SIZES:
            shape = _SIZES[tag]
            at += 1 + _WIDTHS[shape] + _number(data, at + 1, shape)
        elif tag in _COUNTS:
            shape, each = _COUNTS[tag]
            left += each * _number(data, at + 1, shape)
            at += 1 + _WIDTHS[shape]
        else:
            raise ValueError(f"unreadable changes: no value begins with {tag:#x}")
    if at > len(data):
        raise _MissingError
    return at


def _number(data: bytes, at: int, shape: str) -> int:
    if at + _WIDTHS[shape] > len(data):
        raise _MissingError
    return int(unpack_from(shape, data, at)[0])
