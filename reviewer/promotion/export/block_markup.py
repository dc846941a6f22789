"""Finding the marked block in a Markdown file, byte by byte.

A marker is a line of its own, indented by at most three spaces. What stands in code (fenced or
indented, as CommonMark reads it) is text.
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import accumulate

from msgspec import Struct

from reviewer.errors import ReviewerError

UTF8_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARKER = re.compile(rb" {0,3}<!--[ \t]*reviewer:(begin|end)(?![\w-])(.*)", re.DOTALL)
_REST = re.compile(rb"(?:(?!-->).)*-->[ \t]*[\r\n]*", re.DOTALL)


class BrokenBlockError(ReviewerError):
    """The markers in a file make no single block; the sentence names the line, counted from 1."""


class Block(Struct, frozen=True):
    """Where the block stands: from its begin marker up to and with the line of its end marker."""

    start: int
    end: int
    begin_line: bytes
    """The begin marker with its line ending."""


class Fence(Struct, frozen=True):
    """Where code begins: its 0-based line, and the markup that would end it."""

    line: int
    markup: str


class _Mark(Enum):
    BEGIN = "begin"
    END = "end"


def find_block(data: bytes) -> Block | None:
    """The block in `data`, or None. Raises BrokenBlockError."""
    lines = split_lines(data)
    marks = _marks(lines, 0)
    if not marks:
        return None
    first = min(marks)
    if marks[first] is _Mark.END:
        raise BrokenBlockError(
            f"Line {first + 1} ends a block that does not begin before it: remove that line."
        )
    # Inside the block everything is ours, so code there hides no marker.
    last, mark = next(
        ((n, mark) for n in range(first + 1, len(lines)) if (mark := _mark(lines[n], n))),
        (None, None),
    )
    if last is None:
        raise BrokenBlockError(
            f"Line {first + 1} begins a block that never ends: add a line"
            " <!-- reviewer:end --> where it ends, or remove that line."
        )
    if mark is _Mark.BEGIN:
        raise BrokenBlockError(
            f"Line {last + 1} begins a block inside the one of line {first + 1}: remove one of the"
            " two lines."
        )
    again = _marks(lines[last + 1 :], last + 1)
    if again:
        line = min(again)
        raise BrokenBlockError(
            f"Line {line + 1} {again[line].value}s a second block after that of line {first + 1}:"
            " remove one of them."
        )
    offsets = [0, *accumulate(map(len, lines))]
    begin_line = _without_bom(lines[first], first)
    return Block(offsets[first + 1] - len(begin_line), offsets[last + 1], begin_line)


def split_lines(data: bytes) -> list[bytes]:
    """The lines with their endings (`\\r\\n`, `\\n` or `\\r`), as CommonMark counts them."""
    return _LINE.findall(data)


def line_ending(line: bytes) -> bytes:
    """The ending of a line, or nothing."""
    return line[len(line.rstrip(b"\r\n")) :]


def open_fence(data: bytes) -> Fence | None:
    """The code fence that never ends, so that what is added to `data` would be code; or None."""
    if b"```" not in data and b"~~~" not in data:
        return None
    lines = split_lines(data + b"\n\ntext")
    return _code(lines).get(len(lines) - 1)


def _marks(lines: list[bytes], before: int) -> dict[int, _Mark]:
    """The markers outside of code by line, where `before` lines stand in front of `lines`."""
    found = {n: mark for n, line in enumerate(lines) if (mark := _mark(line, n + before))}
    code = _code(lines) if found else {}
    return {n + before: mark for n, mark in found.items() if n not in code}


def _mark(line: bytes, number: int) -> _Mark | None:
    found = _MARKER.match(_without_bom(line, number))
    # More text behind a marker makes it a mention.
    if found is None or not _REST.fullmatch(found[2]):
        return None
    return _Mark(found[1].decode())


def _code(lines: list[bytes]) -> dict[int, Fence]:
    """The 0-based lines that are code, each with where that code begins."""
    from markdown_it import MarkdownIt

    text = b"\n".join(line.rstrip(b"\r\n") for line in lines).removeprefix(UTF8_BOM)
    parser = MarkdownIt("commonmark").disable("inline")
    return {
        number: Fence(token.map[0], token.markup)
        for token in parser.parse(text.decode("utf-8", "surrogateescape"))
        if token.type in ("fence", "code_block") and token.map
        for number in range(*token.map)
    }


def _without_bom(line: bytes, number: int) -> bytes:
    return line.removeprefix(UTF8_BOM) if number == 0 else line
