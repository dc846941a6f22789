"""Searching a source for words: in the lines of its file, or in the stored records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from reviewer.engine import EvidenceView, FileWindow
from reviewer.tui.kit.text import Span
from reviewer.tui.widgets.source_text import records

SEARCH_LINES = 4_000
"""Lines that are read at a time."""


class Match(Struct, frozen=True):
    """Where the words stand: in the file's line (or the record) number `at`, at `span`.

    `line` is the file's 0-based line of it in both cases.
    """

    at: int
    line: int
    span: Span


class Lines(Protocol):
    """What can give lines of a file (`engine.sources`)."""

    def lines(self, path: str, around_line: int, *, context: int = 200) -> FileWindow:
        """The lines around one. Raises SourceError."""
        ...


def search_file(source: Lines, path: str, needle: str, start: int, step: int) -> Match | None:
    """The first line from the 0-based line `start` on (`step` 1) or back (-1) with the words.

    Raises SourceError when the file cannot be read.
    """
    half = SEARCH_LINES // 2
    at = start
    while at >= 0:
        middle = max(at + half * step, 0)
        window = source.lines(path, middle, context=half)
        found = find(window.lines, needle, at - window.first_line, step)
        if found is not None:
            line = window.first_line + found[0]
            return Match(line, line, found[1])
        if step > 0 and (window.total_lines is not None or not window.lines):
            return None
        at = window.first_line + len(window.lines) if step > 0 else window.first_line - 1
    return None


def search_records(evidence: EvidenceView, needle: str, start: int, step: int) -> Match | None:
    """The same in the record and those around it, where `start` counts records."""
    around = records(evidence)
    found = find([record.text for record in around], needle, start, step)
    if found is None:
        return None
    return Match(found[0], around[found[0]].line_start, found[1])


def find(texts: Sequence[str], needle: str, start: int, step: int) -> tuple[int, Span] | None:
    """The first text from index `start` in direction `step` that holds `needle`, in any case."""
    wanted = needle.lower()
    at = start
    while 0 <= at < len(texts):
        place = texts[at].lower().find(wanted)
        if place >= 0:
            return at, Span(place, min(place + len(needle), len(texts[at])))
        at += step
    return None
