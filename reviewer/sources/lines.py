"""Reading a file line by line with exact byte positions, in constant memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from reviewer.files import unreadable
from reviewer.sources.unpacked import open_unpacked

LINE_LIMIT = 32_000_000
"""Maximum bytes of a line; a longer one is yielded as None."""
BLOCK = 1 << 18
"""Bytes read at a time; a block that fits into the CPU cache is processed twice as fast."""
BUFFER = 1 << 16
"""Bytes read ahead for single lines and random access."""
_LINE_FEED = ord("\n")


@contextmanager
def opened_file(path: Path) -> Iterator[BinaryIO]:
    """The open file, unpacked if compressed; errors become a SourceError with its name."""
    try:
        with open_unpacked(path, buffering=BUFFER) as stream:
            yield stream
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def bom_of(head: bytes) -> int:
    """The length of a file's byte order mark."""
    return len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0


def read_lines(
    stream: BinaryIO, bom: int = 0, limit: int = LINE_LIMIT
) -> Iterator[tuple[int, int, bytes | None]]:
    """Every line as (0-based number, offset of its first byte, its bytes without the line end).

    The bytes are None for a line of more than `limit` bytes. `stream` must be at its start.
    """
    stream.read(bom)
    number, start = 0, bom
    while raw := stream.readline(limit + 1):
        size = len(raw)
        if raw[-1] == _LINE_FEED:
            yield number, start, raw[:-1]
        elif size <= limit:  # the last one
            yield number, start, raw
        else:
            while raw[-1] != _LINE_FEED and (raw := stream.readline(BLOCK)):
                size += len(raw)
            yield number, start, None
        number += 1
        start += size
