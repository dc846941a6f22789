"""A marked block in a file that belongs to somebody else (AGENTS.md, CLAUDE.md).

Nothing outside the block is touched, to the byte. Only places bytes: `exports.py` decides what the
block contains.

A marker is a line of its own, indented by at most three spaces. Inside code (fenced or indented, as
CommonMark reads it) it is text.
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import accumulate

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.promotion.export.plans import FilePlan
from reviewer.text.for_agents import AgentText

_BEGIN = "<!-- reviewer:begin join={join} (reviewer writes this block; edits in it are lost) -->"
_END = b"<!-- reviewer:end -->"
_JOIN = re.compile(rb"\bjoin=([012])\b")
_MARKER_TEXT = re.compile(r"\\?<!--(?=\s*reviewer:)", re.IGNORECASE)
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def plan_block(existing: bytes | None, body: AgentText) -> FilePlan:
    """Put `body` into the block of a file, or add the block at its end after one blank line.

    `existing` is None when there is no file. Marker text in `body` is made harmless, a code fence
    that it leaves open is closed, and it gets the line endings of the file. A file whose markers
    are broken, or that is not UTF-8 text, is refused: the plan says why. Planning the same body
    again changes nothing.
    """
    before = existing or b""
    try:
        block = _block(before)
    except BrokenBlockError as error:
        return FilePlan(before=existing, after=before, problem=str(error))
    if block is not None:
        inner = _inner(body, line_ending(block.begin_line))
        last = line_ending(before[block.start : block.end])
        after = before[: block.start] + block.begin_line + inner + _END + last
        return FilePlan(before=existing, after=after + before[block.end :])
    fence = open_fence(before)
    if fence is not None:
        problem = (
            f"Line {fence.line + 1} opens a code fence ({fence.markup}) that is never closed:"
            " close it, so that the block does not become code."
        )
        return FilePlan(before=existing, after=before, problem=problem)
    ending = _ending(before)
    join = _join(before)
    begin = _BEGIN.format(join=join).encode() + ending
    block_bytes = begin + _inner(body, ending) + _END + ending
    return FilePlan(before=existing, after=before + ending * join + block_bytes)


def plan_removal(existing: bytes | None) -> FilePlan:
    """Take the block out again. What was added in front of it goes as well when it is the last
    thing in the file, so that a block that was added leaves the file as it was.
    """
    before = existing or b""
    try:
        block = _block(before)
    except BrokenBlockError as error:
        return FilePlan(before=existing, after=before, problem=str(error))
    if block is None:
        return FilePlan(before=existing, after=before)
    head, tail = before[: block.start], before[block.end :]
    joined = _JOIN.search(block.begin_line)
    if joined and not tail:
        head = head.removesuffix(line_ending(block.begin_line) * int(joined[1]))
    return FilePlan(before=existing, after=head + tail)


def _block(data: bytes) -> BlockExtent | None:
    if data.startswith(_UTF16_BOMS) or b"\0" in data:
        raise BrokenBlockError("The file is not UTF-8 text: save it as UTF-8 first.")
    return find_block(data)


def _inner(body: AgentText, ending: bytes) -> bytes:
    """The lines between the markers, with a blank line on either side."""
    text = _MARKER_TEXT.sub("&lt;!--", body.replace("\0", "\ufffd"))
    lines = [line.rstrip(b"\r\n") for line in split_lines(text.encode("utf-8", "replace"))]
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines:
        return b""
    fence = open_fence(b"\n".join(lines))
    if fence is not None:
        lines.append(fence.markup.encode())
    return ending.join([b"", *lines, b"", b""])


def _ending(data: bytes) -> bytes:
    """The line ending that the file uses most."""
    endings = [line_ending(line) for line in split_lines(data)]
    most = max((b"\n", b"\r\n", b"\r"), key=endings.count)
    # A `\n` behind a `\r` would only complete it.
    return b"\r\n" if most == b"\n" and data.endswith(b"\r") else most


def _join(data: bytes) -> int:
    """How many line endings make one blank line at the end of a file."""
    lines = split_lines(data.removeprefix(UTF8_BOM))
    if not lines or not lines[-1].strip(b" \t\r\n"):
        return int(bool(lines) and not line_ending(lines[-1]))
    return 1 if line_ending(lines[-1]) else 2


UTF8_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARKER = re.compile(rb" {0,3}<!--[ \t]*reviewer:(begin|end)(?![\w-])(.*)", re.DOTALL)
_REST = re.compile(rb"(?:(?!-->).)*-->[ \t]*[\r\n]*", re.DOTALL)


class BrokenBlockError(ReviewerError):
    """The markers in a file make no single block; the sentence names the line, counted from 1."""


class BlockExtent(Struct, frozen=True):
    """The extent of the block: from its begin marker up to and with the line of its end marker."""

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


def find_block(data: bytes) -> BlockExtent | None:
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
    return BlockExtent(offsets[first + 1] - len(begin_line), offsets[last + 1], begin_line)


def split_lines(data: bytes) -> list[bytes]:
    """The lines with their endings (`\\r\\n`, `\\n` or `\\r`), as CommonMark counts them."""
    return _LINE.findall(data)


def line_ending(line: bytes) -> bytes:
    """The ending of a line, or nothing."""
    return line[len(line.rstrip(b"\r\n")) :]


def open_fence(data: bytes) -> Fence | None:
    """The code fence that is never closed, which would turn text appended to `data` into code."""
    if b"```" not in data and b"~~~" not in data:
        return None
    lines = split_lines(data + b"\n\ntext")
    return _code(lines).get(len(lines) - 1)


def _marks(lines: list[bytes], before: int) -> dict[int, _Mark]:
    """The markers outside of code by line, where `before` lines precede `lines`."""
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
