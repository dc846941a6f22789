"""The lines of a note, and splitting them into sections by heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

SECTION_CHARS = 20_000
"""Characters after which a section is cut at the next blank line, to limit memory use."""

HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
FENCE = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$")
SETEXT = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
NO_TITLE = re.compile(r"\s*([-*+>|#`~=<]|\d+[.)]\s|$)")
HEADING_CHARS = 400


class NoteLine(Struct, frozen=True, gc=False):
    """One line: its number (0-based), byte offset, bytes and text.

    `raw` is empty for a line that is `too_long`, which is left out of all sections.
    """

    number: int
    start: int
    raw: bytes
    text: str
    too_long: bool = False


class NoteSection(Struct):
    """Consecutive lines under one heading path; `level` 0: before any heading."""

    lines: list[NoteLine]
    headings: tuple[str, ...]
    level: int
    entry: bool = False


def heading_of(line: str) -> tuple[int, str] | None:
    """Level and title of an ATX heading line, or None."""
    if len(line) > HEADING_CHARS:
        return None
    found = HEADING.match(line)
    if found is None:
        return None
    title = (found[2] or "").strip()
    return len(found[1]), re.sub(r"(^|[ \t]+)#+$", "", title).strip()


class Markup:
    """Tracks code fences and HTML comments, inside which headings do not count."""

    def __init__(self) -> None:
        self._fence = ""
        self._comment = False

    def plain(self, line: str) -> bool:
        """Whether a line is outside fences and comments; call it for every line in order."""
        if self._fence:
            if line.strip().startswith(self._fence) and not line.strip(self._fence[0] + " \t"):
                self._fence = ""
            return False
        if self._comment:
            self._comment = "-->" not in line
            return False
        fence = FENCE.match(line)
        if fence:
            self._fence = fence[1] or fence[2]
            return False
        opened = line.rfind("<!--")
        if opened >= 0 and line.find("-->", opened) < 0:
            self._comment = True
            return False
        return True


def sections(
    lines: Iterator[NoteLine], is_entry: Callable[[int, str], bool]
) -> Iterator[NoteSection]:
    """The sections of a note in order; some are blank.

    A heading with `is_entry(level, title)` starts an entry, which includes its sub-headings. Only a
    single-line section can be longer than twice `SECTION_CHARS`.
    """
    markup = Markup()
    path: list[tuple[int, str]] = []
    current = NoteSection([], (), 0)
    size = 0
    for line in lines:
        if line.too_long:
            yield current
            current = NoteSection([], current.headings, current.level, current.entry)
            size = 0
            continue
        plain = markup.plain(line.text)
        heading = heading_of(line.text) if plain else None
        moved: list[NoteLine] = []
        underline = SETEXT.match(line.text) if plain and heading is None else None
        if underline and _is_title(current.lines):
            moved = [current.lines.pop()]
            heading = (1 if underline[1][0] == "=" else 2, moved[0].text.strip())
        if heading is not None and not (current.entry and heading[0] > current.level):
            yield current
            path = [step for step in path if step[0] < heading[0]] + [heading]
            titles = tuple(title for _, title in path)
            current = NoteSection(moved, titles, heading[0], is_entry(*heading))
            size = sum(len(each.text) for each in moved)
        else:
            current.lines += moved
        if size > SECTION_CHARS and (size > 2 * SECTION_CHARS or (plain and not line.text.strip())):
            yield current
            current = NoteSection([], current.headings, current.level, current.entry)
            size = 0
        current.lines.append(line)
        size += len(line.text) + 1
    yield current


def _is_title(lines: list[NoteLine]) -> bool:
    """Whether the last line is a one-line paragraph, which an underline turns into a heading."""
    if not lines or len(lines[-1].text) > 200 or NO_TITLE.match(lines[-1].text):
        return False
    return len(lines) == 1 or not lines[-2].text.strip()
