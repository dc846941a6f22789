"""Whole JSON objects inside a damaged line."""

from __future__ import annotations

import json
from collections.abc import Iterator

PIECES_LIMIT = 100_000
FAILURES_LIMIT = 20

_decoder = json.JSONDecoder()


def json_pieces(line: bytes) -> Iterator[tuple[int, bytes]]:
    """Every object of the line that is whole, as (byte offset, bytes).

    Finds records that were run together, and what follows a cut one. Gives up after a few places
    that do not decode, so that a line of rubbish costs little.
    """
    text = line.decode("utf-8", "surrogateescape")
    position = text.find("{")
    offset = len(text[:position].encode("utf-8", "surrogateescape")) if position > 0 else 0
    failures = 0
    for _ in range(PIECES_LIMIT):
        if position < 0 or failures > FAILURES_LIMIT:
            return
        try:
            value, end = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            failures += 1
            # A record begins with a quoted key; anything else is not worth a try.
            end = text.find('{"', position + 1)
            offset += _bytes_between(text, position, end)
            position = end
            continue
        size = _bytes_between(text, position, end)
        if isinstance(value, dict):
            yield offset, line[offset : offset + size]
        offset += size
        position = text.find("{", end)
        offset += _bytes_between(text, end, position)


def _bytes_between(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode("utf-8", "surrogateescape")) if end > start else 0
