"""A marked block in somebody else's file (AGENTS.md, CLAUDE.md).

Nothing outside the block changes, to the byte. `exports.py` decides on its contents. A marker is a
line of its own, indented by at most three spaces.
"""

from __future__ import annotations

import re

from reviewer.promotion.export.plans import FilePlan
from reviewer.text.for_agents import AgentText

_BEGIN = "<!-- reviewer:begin join={join} (reviewer writes this block; edits in it are lost) -->"
_END = b"<!-- reviewer:end -->"
_BOM = b"\xef\xbb\xbf"
_MARKER = re.compile(
    rb"(?:(?<![^\r\n])|(?<=\A\xef\xbb\xbf)) {0,3}<!--[ \t]*reviewer:(begin|end)(?![\w-])"
    rb"(?:(?!-->)[^\r\n])*-->[ \t]*(?:\r\n|\r|\n|\Z)"
)
_MARKER_TEXT = re.compile(r"<!--(?=\s*reviewer:)", re.IGNORECASE)
_JOIN = re.compile(rb"\bjoin=([012])\b")
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def plan_block(existing: bytes | None, body: AgentText) -> FilePlan:
    """Put `body` into the block of a file, or add the block at its end after one blank line.

    `existing` is None if there is no file. Marker text in `body` is defused, and it gets the file's
    line endings. A file with broken markers, or that is not UTF-8 text, is refused, with the reason
    in the plan. Planning the same body again changes nothing.
    """
    before = existing or b""
    begin, end, problem = _block(before)
    if problem:
        return FilePlan(before=existing, after=before, problem=problem)
    if begin is None or end is None:
        ending, join = _ending(before), _join(before)
        marker = _BEGIN.format(join=join).encode() + ending
        block = marker + _inner(body, ending) + _END + ending
        return FilePlan(before=existing, after=before + ending * join + block)
    inner = _inner(body, line_ending(begin[0]))
    after = before[: begin.end()] + inner + _END + line_ending(end[0]) + before[end.end() :]
    return FilePlan(before=existing, after=after)


def plan_removal(existing: bytes | None) -> FilePlan:
    """Remove the block. If it is the last thing in the file, the separator added before it goes
    too, so that adding and removing a block leaves the file unchanged.
    """
    before = existing or b""
    begin, end, problem = _block(before)
    if begin is None or end is None:
        return FilePlan(before=existing, after=before, problem=problem)
    head, tail = before[: begin.start()], before[end.end() :]
    joined = _JOIN.search(begin[0])
    if joined and not tail:
        head = head.removesuffix(line_ending(begin[0]) * int(joined[1]))
    return FilePlan(before=existing, after=head + tail)


def _block(data: bytes) -> tuple[re.Match[bytes] | None, re.Match[bytes] | None, str]:
    """The two markers of a file, if present, and the problem with it."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        return None, None, "The file is not UTF-8 text: save it as UTF-8 first."
    marks = list(_MARKER.finditer(data))
    if [each[1] for each in marks] == [b"begin", b"end"]:
        return marks[0], marks[1], ""
    if not marks:
        return None, None, ""
    lines = ", ".join(str(len(split_lines(data[: each.start()])) + 1) for each in marks)
    problem = (
        f"A block has one line <!-- reviewer:begin --> and, after it, one <!-- reviewer:end -->."
        f" Fix line {lines}."
    )
    return None, None, problem


def _inner(body: AgentText, ending: bytes) -> bytes:
    """The lines between the markers, with a blank line on either side."""
    text = _MARKER_TEXT.sub("&lt;!--", body.replace("\0", "\ufffd"))
    lines = [line.rstrip(b"\r\n") for line in split_lines(text.encode("utf-8", "replace"))]
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    return ending.join([b"", *lines, b"", b""]) if lines else b""


def _ending(data: bytes) -> bytes:
    """The most frequent line ending of the file."""
    endings = [line_ending(line) for line in split_lines(data)]
    most = max((b"\n", b"\r\n", b"\r"), key=endings.count)
    # A `\n` after a `\r` would only complete it.
    return b"\r\n" if most == b"\n" and data.endswith(b"\r") else most


def _join(data: bytes) -> int:
    """How many line endings make one blank line at the end of a file."""
    lines = split_lines(data.removeprefix(_BOM))
    if not lines or not lines[-1].strip(b" \t\r\n"):
        return int(bool(lines) and not line_ending(lines[-1]))
    return 1 if line_ending(lines[-1]) else 2


def split_lines(data: bytes) -> list[bytes]:
    """The lines with their endings (`\\r\\n`, `\\n` or `\\r`), as CommonMark counts them."""
    return _LINE.findall(data)


def line_ending(line: bytes) -> bytes:
    """The ending of a line, or empty bytes."""
    return line[len(line.rstrip(b"\r\n")) :]
