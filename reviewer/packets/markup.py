"""The bytes of a context file as lines: comments gone, fences marked (settled.md, "Packets")."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from reviewer.packets.values import Problem
from reviewer.sources.binary import looks_binary
from reviewer.sources.note_lines import NO_TITLE, SETEXT

_FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(`{3,20}|~{3,20})(.*)$")
_INDEX_START, _INDEX_END = "<!-- INDEX:START -->", "<!-- INDEX:END -->"
_LONGEST_TITLE = 200


class TextLine(NamedTuple):
    """A line without comments. `number` is 1-based; `code` says that it is inside of a fence."""

    number: int
    text: str
    code: bool = False


class TextLines(NamedTuple):
    """The lines of a file, and what was odd about it."""

    lines: list[TextLine]
    problems: list[Problem]


def read_lines(raw: bytes, name: str) -> TextLines:
    """The lines of a file: any line ends, with or without a byte order mark, without comments.

    Bytes that are no text are replaced and counted. A comment or a fence that never ends begins
    nothing. The generated index of entries (`INDEX:START` to `INDEX:END`) is left out. Headings
    that are underlined come out with number signs.
    """
    problems: list[Problem] = []
    if looks_binary(raw):
        return TextLines([], [Problem(name, 0, "is no text, so nothing of it was read")])
    text, replaced = _decoded(raw)
    if replaced:
        problems.append(Problem(name, 0, f"{replaced} places are not UTF-8 and were replaced"))
    texts = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").split("\n")
    lines = _without_comments(texts, name, problems)
    return TextLines(_with_plain_headings(lines), problems)


def _decoded(raw: bytes) -> tuple[str, int]:
    """The text, and how many places of it are no text."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig"
    try:
        return raw.decode(encoding), 0
    except UnicodeDecodeError:
        text = raw.decode(encoding, "replace")
        return text, text.count("\ufffd")


def _without_comments(texts: list[str], name: str, problems: list[Problem]) -> list[TextLine]:
    closers = _last_closers(texts)
    last_end = max((n for n, text in enumerate(texts) if "-->" in text), default=-1)
    index_end = max((n for n, text in enumerate(texts) if _INDEX_END in text), default=-1)
    lines: list[TextLine] = []
    fence = ""
    comment = False
    skip_to = -1
    for at, text in enumerate(texts):
        number = at + 1
        if at <= skip_to:
            continue
        if fence:
            lines.append(TextLine(number, text, True))
            if _closes(text, fence):
                fence = ""
            continue
        if not comment:
            if _INDEX_START in text and index_end > at:
                skip_to = next(n for n in range(at, len(texts)) if _INDEX_END in texts[n])
                continue
            opened = _FENCE.match(text)
            if opened and not (opened[1][0] == "`" and "`" in opened[2]):
                if _closed_later(opened[1], at, closers):
                    fence = opened[1]
                    lines.append(TextLine(number, text, True))
                    continue
                problems.append(Problem(name, number, "a code fence that never ends"))
        if not comment and "<!--" not in text:
            lines.append(TextLine(number, text))
            continue
        kept, comment, unended = _strip_comments(text, comment, at < last_end)
        if unended:
            problems.append(Problem(name, number, "a comment that never ends, read as text"))
        if kept.strip():
            lines.append(TextLine(number, kept))
    return lines


def _last_closers(texts: list[str]) -> dict[str, int]:
    """For each line that could end a fence, by its signs: where it stands last."""
    found: dict[str, int] = {}
    for at, text in enumerate(texts):
        bare = text.strip()
        if bare[:3] in ("```", "~~~") and len(bare) <= 20 and not bare.strip(bare[0]):
            found[bare] = at
    return found


def _closed_later(signs: str, at: int, closers: dict[str, int]) -> bool:
    return any(
        last > at and closer[0] == signs[0] and len(closer) >= len(signs)
        for closer, last in closers.items()
    )


def _closes(text: str, fence: str) -> bool:
    bare = text.strip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def _strip_comments(text: str, comment: bool, ends_later: bool) -> tuple[str, bool, bool]:
    """The line without comments, whether one goes on behind it, and whether one never ends."""
    kept: list[str] = []
    at = 0
    while True:
        if comment:
            end = text.find("-->", at)
            if end < 0:
                return "".join(kept), True, False
            at, comment = end + 3, False
            continue
        start = _comment_start(text, at)
        if start < 0:
            return "".join([*kept, text[at:]]).rstrip(), False, False
        if text.find("-->", start + 4) < 0 and not ends_later:
            return "".join([*kept, text[at:]]).rstrip(), False, True
        kept.append(text[at:start])
        at, comment = start + 4, True


def _comment_start(text: str, at: int) -> int:
    """Where the next comment begins; one inside of `code` is none."""
    start = text.find("<!--", at)
    while start >= 0 and text.count("`", 0, start) % 2 and "`" in text[start:]:
        start = text.find("<!--", start + 4)
    return start


def _with_plain_headings(lines: list[TextLine]) -> list[TextLine]:
    """Titles that are underlined as titles behind number signs."""
    found: list[TextLine] = []
    for line in lines:
        under = (
            None
            if line.code or line.text[:4].strip()[:1] not in ("=", "-")
            else SETEXT.match(line.text)
        )
        if under and _may_be_title(found):
            title = found.pop()
            signs = "#" if under[1][0] == "=" else "##"
            found.append(TextLine(title.number, f"{signs} {title.text.strip()}"))
        else:
            found.append(line)
    return found


def _may_be_title(lines: list[TextLine]) -> bool:
    """Whether the last line is a paragraph of one line, which an underline makes a heading."""
    if not lines or lines[-1].code or len(lines[-1].text) > _LONGEST_TITLE:
        return False
    if NO_TITLE.match(lines[-1].text):
        return False
    return len(lines) == 1 or not lines[-2].text.strip()
