"""A marked block in somebody else's file (AGENTS.md, CLAUDE.md).

Nothing outside the block changes, to the byte. `exports.py` decides on its contents. A marker is a
line of its own, indented by at most three spaces.
"""

from __future__ import annotations

import re
from pathlib import Path

from reviewer.errors import ReviewerError
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


class BlockError(ReviewerError):
    """A file in which no block can be written or removed."""


def with_block(path: Path, data: bytes, body: AgentText) -> bytes:
    """The bytes of a file with `body` in its block, which is added at its end after one blank line
    if there is none. `path`: the name of the file.

    Marker text in `body` is defused, and it gets the file's line endings. The same body again
    changes nothing. Raises BlockError for broken markers, and for a file that is not UTF-8 text.
    """
    marks = _block(path, data)
    if marks is None:
        ending, join = _ending(data), _join(data)
        marker = _BEGIN.format(join=join).encode() + ending
        return data + ending * join + marker + _inner(body, ending) + _END + ending
    begin, end = marks
    inner = _inner(body, line_ending(begin[0]))
    return data[: begin.end()] + inner + _END + line_ending(end[0]) + data[end.end() :]


def without_block(path: Path, data: bytes) -> bytes:
    """The bytes of a file without the block. If it is the last thing in the file, the separator
    added before it goes too, so that adding and removing a block leaves the file unchanged.

    Raises BlockError as `with_block` does.
    """
    marks = _block(path, data)
    if marks is None:
        return data
    begin, end = marks
    head, tail = data[: begin.start()], data[end.end() :]
    joined = _JOIN.search(begin[0])
    if joined and not tail:
        head = head.removesuffix(line_ending(begin[0]) * int(joined[1]))
    return head + tail


def _block(path: Path, data: bytes) -> tuple[re.Match[bytes], re.Match[bytes]] | None:
    """The two markers of a file, if present. Raises BlockError."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise BlockError(f"{path}: The file is not UTF-8 text: save it as UTF-8 first.")
    marks = list(_MARKER.finditer(data))
    if not marks:
        return None
    if [each[1] for each in marks] == [b"begin", b"end"]:
        return marks[0], marks[1]
    lines = ", ".join(str(len(split_lines(data[: each.start()])) + 1) for each in marks)
    raise BlockError(
        f"{path}: A block has one line <!-- reviewer:begin --> and, after it, one"
        f" <!-- reviewer:end -->. Fix line {lines}."
    )


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
