"""Finds the records behind quotes in a file, as stored in L0; needs no store."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from reviewer.promotion.rows.masked_records import mask_record
from reviewer.proposing.session_view import read_view
from reviewer.proposing.values import QuoteProof, SessionView, ViewLine
from reviewer.sources.events import Speaker
from reviewer.sources.lines import bom_of, opened_file, read_lines
from reviewer.sources.open import HEAD_BYTES
from reviewer.sources.records import Record, RecordUse, Role
from reviewer.sources.rows import has_rows
from reviewer.sources.stream import read
from reviewer.text.controls import UNSEEN, without_controls

READ_WHOLE = 8_000_000
"""Bytes up to which a file is read whole; of a longer one, only the lines from the first to the
last cited one. In some formats each opening reads everything, so there is one for all lines.
"""

_ROLES = {
    Speaker.PERSON: Role.USER,
    Speaker.AGENT: Role.ASSISTANT,
    Speaker.SUBAGENT: Role.ASSISTANT,
}


class CitedQuote(Struct, frozen=True):
    """A quote in its record: `record.text[start:end]`."""

    record: Record
    start: int
    end: int


def cite(
    path: Path, quotes: Sequence[QuoteProof], view: SessionView | None = None
) -> list[CitedQuote | None]:
    """The masked record of each quote; None if not found.

    A line that is not a message, such as a tool call, becomes a record of its own with the text
    shown in a view. Raises SourceError if the file cannot be read.
    """
    found: list[CitedQuote | None] = [None] * len(quotes)
    wanted = {number: quote for number, quote in enumerate(quotes) if quote.found}
    lines = sorted({quote.line for quote in wanted.values()})
    only = view.session if view is not None else ""
    for record in _records(path, lines, only):
        for number in [n for n, quote in wanted.items() if _covers(record, quote.line)]:
            cited = _cited(record, wanted[number].text)
            if cited is not None:
                found[number] = cited
                del wanted[number]
    if wanted:
        view = view or read_view(path)
        lines = sorted({quote.line for quote in wanted.values()})
        for record in _view_records(path, lines, view):
            for number, quote in wanted.items():
                if found[number] is None and quote.line == record.line_start:
                    found[number] = _cited(record, quote.text)
    return found


def _records(path: Path, lines: Sequence[int], session: str = "") -> Iterator[Record]:
    """The masked records of those lines; of one session, if the file has several."""
    if not lines:
        return
    start, end = 0, None
    if path.stat().st_size > READ_WHOLE and not has_rows(path):
        start, end = lines[0], lines[-1] + 1
    only = frozenset((session,)) if session else None
    for record in read(path, line_start=start, line_end=end, sessions=only).records():
        if any(_covers(record, line) for line in lines):
            yield mask_record(record)[0]


def _view_records(path: Path, lines: Sequence[int], view: SessionView) -> Iterator[Record]:
    """Records of whole messages, or of whole lines if a message has no position of its own, with
    their text in the view.
    """
    wanted = set(lines)
    by_line: dict[int, list[ViewLine]] = {}
    messages: dict[tuple[int, int, int], list[ViewLine]] = {}
    for line in view.lines:
        if line.line not in wanted:
            continue
        if line.span is None:
            by_line.setdefault(line.line, []).append(line)
        else:
            messages.setdefault((line.line, *line.span), []).append(line)
    yield from _line_records(path, lines, by_line)
    if any(start < end for _, start, end in messages):
        with opened_file(path) as stream:
            for (number, start, end), found in messages.items():
                stream.seek(start)
                yield _message_record(number, (start, end), stream.read(end - start), found)
        return
    for (number, _, _), found in messages.items():
        yield _row_record(number, found, view.session)


def _line_records(
    path: Path, lines: Sequence[int], views: Mapping[int, Sequence[ViewLine]]
) -> Iterator[Record]:
    if not views:
        return
    with opened_file(path) as stream:
        bom = bom_of(stream.read(HEAD_BYTES))
        stream.seek(0)
        for number, start, raw in read_lines(stream, bom):
            if number in views and raw is not None:
                yield _message_record(number, (start, start + len(raw)), raw, views[number])
            if number >= lines[-1]:
                return


def _message_record(
    number: int, span: tuple[int, int], raw: bytes, views: Sequence[ViewLine]
) -> Record:
    record = _row_record(number, views, "")
    digest = hashlib.sha256(raw).hexdigest()
    return structs.replace(
        record, key=f"line:{digest}", sha256=digest, byte_start=span[0], byte_end=span[1]
    )


def _row_record(number: int, views: Sequence[ViewLine], session: str) -> Record:
    """A record of a row of a database or an archive, which has no bytes of its own."""
    text = "\n".join(line.text for line in views)
    name = hashlib.sha256(f"{session}\0{text}".encode("utf-8", "replace")).hexdigest()
    return Record(
        key=f"line:{name}",
        line_start=number,
        line_end=number + 1,
        byte_start=0,
        byte_end=0,
        sha256=hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
        role=_ROLES.get(views[0].speaker, Role.TOOL),
        text=text,
        use=RecordUse.TOOL,
        session=session or None,
        at=views[0].at or None,
    )


def _covers(record: Record, line: int) -> bool:
    return record.line_start <= line < max(record.line_end, record.line_start + 1)


def _cited(record: Record, quote: str) -> CitedQuote | None:
    start = record.text.find(quote)
    if start >= 0:
        return CitedQuote(record, start, start + len(quote))
    words = [re.escape(word) for word in without_controls(quote).split()]
    between = rf"(?:\s|{UNSEEN})++"
    match = re.search(between.join(words), record.text) if words else None
    return match and CitedQuote(record, match.start(), match.end())
