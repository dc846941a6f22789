"""A source as blocks: the lines of the file, or the records around one, with line numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from reviewer.engine import EvidenceView, FileWindow, RecordView
from reviewer.tui.kit.text import Block, Run, Span
from reviewer.tui.theme import Glyphs
from reviewer.tui.widgets.roles import role_cells, role_runs

LINE_CHARACTERS = 600
"""Of a line that is not cited, so many characters are shown."""
RECORD_CHARACTERS = 1_200
"""Of a record that is not cited, so many."""


def cited_lines(evidence: EvidenceView) -> range:
    """The 0-based lines that hold the span; all lines of the record when it is a turn."""
    record = evidence.record
    if record.shape == "turn":
        return range(record.line_start, max(record.line_end, record.line_start + 1))
    first = evidence.line
    return range(first, first + record.text.count("\n", evidence.span_start, evidence.span_end) + 1)


class Found(Protocol):
    """What a search found: in the line or record number `at`."""

    @property
    def at(self) -> int:
        """Its number."""
        ...

    @property
    def span(self) -> Span:
        """Its characters."""
        ...


def file_blocks(
    window: FileWindow, evidence: EvidenceView, signs: Glyphs, found: Found | None = None
) -> list[Block]:
    """One block a line. The cited lines carry the bar, and the span where it can be found."""
    cited = cited_lines(evidence)
    marks = _marks(window, evidence, cited)
    prose = evidence.record.shape != "turn"  # JSON is cut to one row a line instead
    cells = _number_cells(window.first_line + len(window.lines))
    blocks = []
    for number, line in enumerate(window.lines, window.first_line):
        here = number in cited
        spans = marks.get(number, ())
        if found is not None and number == found.at:
            spans = (found.span,)
        blocks.append(
            Block(
                line,
                "text" if here else "dim",
                spans,
                first=(_number(number, cells, here), _bar(here, signs)),
                rest=(Run(" " * cells), _bar(here, signs)),
                wrap=prose or here or bool(spans),
                limit=4_000 if here or spans else LINE_CHARACTERS,
            )
        )
    return blocks


def record_blocks(evidence: EvidenceView, signs: Glyphs, found: Found | None = None) -> list[Block]:
    """One block a record, as it was said: number of its first line, role, text."""
    around = records(evidence)
    cells = _number_cells(max(record.line_start for record in around) + 1)
    blocks = []
    for place, record in enumerate(around):
        here = record is evidence.record
        spans = (Span(evidence.span_start, evidence.span_end),) if here else ()
        if found is not None and place == found.at:
            spans = (found.span,)
        blocks.append(
            Block(
                record.text,
                "text" if here else "dim",
                spans,
                first=(
                    _number(record.line_start, cells, here),
                    _bar(here, signs),
                    *role_runs(record, "strong" if here else "faint"),
                ),
                rest=(Run(" " * cells), _bar(here, signs), Run(" " * role_cells(record))),
                limit=64_000 if here else RECORD_CHARACTERS,
            )
        )
    return blocks


def records(evidence: EvidenceView) -> list[RecordView]:
    """The record with those around it, in the order of the file."""
    return [*evidence.before, evidence.record, *evidence.after]


def _marks(window: FileWindow, evidence: EvidenceView, cited: range) -> dict[int, tuple[Span, ...]]:
    """Where the span stands in the file's lines: as it is, or as JSON writes it."""
    lines = evidence.record.text[evidence.span_start : evidence.span_end].split("\n")
    said = [line.strip() for line in lines if line.strip()]
    marks: dict[int, tuple[Span, ...]] = {}
    for number in cited:
        at = number - window.first_line
        if not 0 <= at < len(window.lines):
            continue
        line = window.lines[at]
        for text in _spellings(said, whole="\n".join(lines)):
            place = line.find(text)
            if place >= 0:
                marks[number] = (Span(place, place + len(text)),)
                break
    return marks


def _spellings(said: Sequence[str], whole: str) -> list[str]:
    encoded = [json.dumps(whole, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True)]
    return [text for text in (*encoded, *said) if text]


def _number_cells(highest: int) -> int:
    return len(str(highest)) + 2


def _number(line: int, cells: int, here: bool) -> Run:
    return Run(f"{line + 1:>{cells - 1}} ", "accent" if here else "faint")


def _bar(here: bool, signs: Glyphs) -> Run:
    return Run(f"{signs.bar} " if here else "  ", "accent")
