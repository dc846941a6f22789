"""Reading a file line by line with exact byte positions, in constant memory."""

from __future__ import annotations

import codecs
import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from reviewer.files import unreadable
from reviewer.sources.unpacked import open_unpacked

LINE_LIMIT = 32_000_000
"""Maximum bytes of a line; a longer one is yielded as None."""

WHOLE_LIMIT = 256_000_000
"""Maximum bytes of a file whose lines end with something else than a line feed of one byte."""
BLOCK = 1 << 18
"""Bytes read at a time; a block that fits into the CPU cache is processed twice as fast."""
BUFFER = 1 << 16
"""Bytes read ahead when lines are read one by one or at random."""
_LINE_FEED = ord("\n")


class TextForm(Struct, frozen=True):
    """How bytes become text: the encoding, the length of the byte order mark, the line end."""

    encoding: str = "utf-8"
    bom: int = 0
    line_end: bytes = b"\n"

    def utf8(self, raw: bytes) -> bytes:
        """The bytes of a line as UTF-8."""
        if self.encoding == "utf-8":
            return raw
        return raw.decode(self.encoding, "replace").encode("utf-8", "replace")

    def text(self, raw: bytes) -> tuple[str, bool]:
        """A line as text, and whether invalid bytes had to be replaced."""
        try:
            return raw.decode(self.encoding), False
        except UnicodeDecodeError:
            return raw.decode(self.encoding, "replace"), True


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """The open file, a compressed one unpacked; errors become a SourceError that names
    it.
    """
    try:
        with open_unpacked(path, buffering=BUFFER) as stream:
            yield stream
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def text_form(head: bytes) -> TextForm:
    """The form of a file that begins with `head`.

    Lines end with a line feed, or with a carriage return if the file does not have any line feed.
    """
    if head.startswith(codecs.BOM_UTF16_LE):
        return TextForm("utf-16-le", 2, "\n".encode("utf-16-le"))
    if head.startswith(codecs.BOM_UTF16_BE):
        return TextForm("utf-16-be", 2, "\n".encode("utf-16-be"))
    bom = 3 if head.startswith(codecs.BOM_UTF8) else 0
    line_end = b"\r" if b"\n" not in head and b"\r" in head else b"\n"
    return TextForm("utf-8", bom, line_end)


def read_lines(
    stream: BinaryIO, form: TextForm, limit: int = LINE_LIMIT
) -> Iterator[tuple[int, int, bytes | None]]:
    """Every line as (0-based number, offset of its first byte, its bytes without the line end).

    The bytes are None for a line of more than `limit` bytes. `stream` must be at its beginning.
    """
    stream.read(form.bom)
    if form.line_end == b"\n":
        return _plain_lines(stream, form.bom, limit)
    return _other_lines(stream, form, limit)


def _plain_lines(
    stream: BinaryIO, start: int, limit: int
) -> Iterator[tuple[int, int, bytes | None]]:
    """Lines that end with a one-byte line feed, which the stream finds itself."""
    number = 0
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


def _other_lines(
    stream: BinaryIO, form: TextForm, limit: int
) -> Iterator[tuple[int, int, bytes | None]]:
    """Lines with another line end, found in the whole file."""
    data = stream.read(WHOLE_LIMIT + 1)
    if len(data) > WHOLE_LIMIT:
        reason = f"it has more than {WHOLE_LIMIT // 1_000_000} MB, but not in UTF-8: convert it"
        raise OSError(errno.EFBIG, reason)
    start = form.bom
    lines = _split(data, form)
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        yield number, start, line if len(line) <= limit else None
        start += len(line) + len(form.line_end)


def _split(data: bytes, form: TextForm) -> list[bytes]:
    if form.encoding == "utf-8":
        return data.split(form.line_end)
    # Characters begin at even offsets.
    pieces, begin, found = [], 0, data.find(form.line_end)
    while found >= 0:
        if found % 2 == 0:
            pieces.append(data[begin:found])
            begin = found + 2
            found = data.find(form.line_end, begin)
        else:
            found = data.find(form.line_end, found + 1)
    pieces.append(data[begin:])
    return pieces
