"""A marked block in a file that belongs to somebody else (AGENTS.md, CLAUDE.md).

Nothing outside the block is touched, to the byte: a known tool deleted most of a CLAUDE.md by
adding one memory to it (users.md, "Undo/delete").
"""

from __future__ import annotations

import re

from reviewer.promotion.export.block_markup import (
    UTF8_BOM,
    Block,
    BrokenBlockError,
    find_block,
    line_ending,
    open_fence,
    split_lines,
)
from reviewer.promotion.export.plans import Plan

_BEGIN = "<!-- reviewer:begin join={join} (reviewer writes this block; edits in it are lost) -->"
_END = b"<!-- reviewer:end -->"
_JOIN = re.compile(rb"\bjoin=([012])\b")
_MARKER_TEXT = re.compile(r"\\?<!--(?=\s*reviewer:)", re.IGNORECASE)
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def plan_block(existing: bytes | None, body: str) -> Plan:
    """Put `body` into the block of a file, or add the block at its end after one blank line.

    `existing` is None when there is no file. Marker text in `body` is made harmless, a code fence
    that it leaves open is closed, and it gets the line endings of the file. A file whose markers
    are broken, or that is no UTF-8 text, is refused: the plan says why. Planning the same body
    again changes nothing.
    """
    before = existing or b""
    try:
        block = _block(before)
    except BrokenBlockError as error:
        return Plan(before=existing, after=before, problem=str(error))
    if block is not None:
        inner = _inner(body, line_ending(block.begin_line))
        last = line_ending(before[block.start : block.end])
        after = before[: block.start] + block.begin_line + inner + _END + last
        return Plan(before=existing, after=after + before[block.end :])
    fence = open_fence(before)
    if fence is not None:
        problem = (
            f"Line {fence.line + 1} opens a code fence ({fence.markup}) that is never closed:"
            " close it, so that the block does not become code."
        )
        return Plan(before=existing, after=before, problem=problem)
    ending = _ending(before)
    join = _join(before)
    begin = _BEGIN.format(join=join).encode() + ending
    block_bytes = begin + _inner(body, ending) + _END + ending
    return Plan(before=existing, after=before + ending * join + block_bytes)


def plan_removal(existing: bytes | None) -> Plan:
    """Take the block out again. What was added in front of it goes as well when it is the last
    thing in the file, so that a block that was added leaves the file as it was.
    """
    before = existing or b""
    try:
        block = _block(before)
    except BrokenBlockError as error:
        return Plan(before=existing, after=before, problem=str(error))
    if block is None:
        return Plan(before=existing, after=before)
    head, tail = before[: block.start], before[block.end :]
    joined = _JOIN.search(block.begin_line)
    if joined and not tail:
        head = head.removesuffix(line_ending(block.begin_line) * int(joined[1]))
    return Plan(before=existing, after=head + tail)


def _block(data: bytes) -> Block | None:
    if data.startswith(_UTF16_BOMS) or b"\0" in data:
        raise BrokenBlockError("The file is no UTF-8 text: save it as UTF-8 first.")
    return find_block(data)


def _inner(body: str, ending: bytes) -> bytes:
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
