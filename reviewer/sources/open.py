"""Choosing the reader of a file by what is in it."""

from __future__ import annotations

import re
import stat
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path

from msgspec import structs

from reviewer.errors import OtherKindError, SourceError
from reviewer.sources.binary import looks_binary
from reviewer.sources.chat import ChatScan
from reviewer.sources.claude_code import ClaudeCodeScan
from reviewer.sources.claude_sign import CLAUDE_RECORD, looks_like_claude
from reviewer.sources.formats import CHAT, CLAUDE_CODE, document_format, is_claude, line_format
from reviewer.sources.json_pieces import json_pieces
from reviewer.sources.json_positions import outline
from reviewer.sources.lines import (
    LINE_LIMIT,
    LINE_SEPARATOR,
    TextForm,
    read_lines,
    reading,
    text_form,
)
from reviewer.sources.markdown import MarkdownScan
from reviewer.sources.marked_turns import MarkedTurnsScan, dialect_of
from reviewer.sources.prose import PROSE_NAMES, why_no_prose
from reviewer.sources.records import Record, Scan

HEAD_BYTES = 256_000
DOCUMENT_LIMIT = 256_000_000
BINARY_LIMIT = 16_000_000
"""Bytes of a file that begins as no text in which records are looked for: a disk that lost power
leaves NULs before them.
"""
SAMPLE_LINES = 24
"""Lines that are looked into, spread over the sample."""
NO_CONVERSATION = "JSON that is no conversation"
JSON_START = re.compile(rb'\s*(?:\{\s*"|\[\s*\[?\s*\{)')


class EmptyScan:
    """A file without a byte in it, or with blanks only."""

    format = "empty"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tally: Counter[str] = Counter({"empty file": 1})
        self.errors: list[str] = []

    def __iter__(self) -> Iterator[Record]:
        return iter(())


def open_source(path: Path, *, line_start: int = 0, line_end: int | None = None) -> Scan:
    """The reader for a file, chosen by content; iterate it to get its records.

    `line_start` and `line_end` are 0-based half-open lines; only records inside them are given.
    Raises OtherKindError when the file is nothing that reviewer reads, and SourceError, here or
    while iterating, when it cannot be read. The first 256 kB decide, or those after a first line
    that is longer.
    """
    lines = (line_start, float("inf") if line_end is None else line_end)
    head = _head(path)
    form = text_form(head)
    sample = form.utf8(head[form.bom :])
    if not sample.strip():
        return EmptyScan(path)
    pieces, form = _pieces(sample, form)
    objects = [each for piece in pieces if (each := _object(piece))]
    binary = form.encoding == "utf-8" and looks_binary(head)
    if not objects and len(pieces) < 2:
        pieces += _later_pieces(path, form, BINARY_LIMIT if binary else -1)
        objects = [each for piece in pieces if (each := _object(piece))]
    if not objects:
        objects = [each for line in pieces[:20] for each in _run_together(line)]
    votes = Counter(name for each in objects if (name := line_format(each)))
    begins = sample.lstrip()[:1]
    # A message may stand alone in any text; the records of an agent hardly do.
    enough = 0.3 if set(votes) == {CHAT} else 0.1
    mostly_records = len(objects) >= enough * len(pieces)
    if votes and begins != b"[" and mostly_records:
        return _line_reader(path, form, lines, votes)
    if not votes and binary:
        raise OtherKindError(f"{path} is not text that reviewer reads: it is binary.")
    if begins in (b"[", b"{"):
        document = _document(path, form)
        if document is not None:
            return ChatScan(path, form, lines, document)
    if votes and (mostly_records or JSON_START.match(sample)):
        return _line_reader(path, form, lines, votes)
    if JSON_START.match(sample):
        if objects:
            raise OtherKindError(f"{path} is not text that reviewer reads: {NO_CONVERSATION}.")
        raise SourceError(f"{path} is not text that reviewer reads: JSON that is damaged.")
    text = sample.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    reason = why_no_prose(text, path.suffix)
    noted = reason is None or path.suffix.lower() in PROSE_NAMES
    if noted and (dialect := dialect_of(text)):
        return MarkedTurnsScan(path, form, lines, dialect)
    if reason:
        raise OtherKindError(f"{path} is not text that reviewer reads: {reason}.")
    return MarkdownScan(path, form, lines)


def _head(path: Path) -> bytes:
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError):
        kind = stat.S_IFREG  # opening it says what is wrong
    if stat.S_ISDIR(kind):
        raise SourceError(f"{path} is a folder: name a file in it.")
    if not stat.S_ISREG(kind):
        raise SourceError(f"{path} is no ordinary file.")
    with reading(path) as stream:
        return stream.read(HEAD_BYTES)


def _pieces(sample: bytes, form: TextForm) -> tuple[list[bytes], TextForm]:
    """The first lines that are not blank, and the form corrected for what really ends them."""
    line_end = form.line_end.replace(b"\0", b"")
    if line_end not in sample and LINE_SEPARATOR in sample and form.encoding == "utf-8":
        parts = sample.split(LINE_SEPARATOR)
        if any(_object(part) for part in parts[:3]):
            line_end = LINE_SEPARATOR
            form = structs.replace(form, line_end=line_end)
    parts = sample.split(line_end)
    if len(sample) >= HEAD_BYTES // 2 and len(parts) > 1:
        parts.pop()  # cut by the end of the sample
    parts = [part for part in parts if part.strip()]
    return parts[:: -(-len(parts) // SAMPLE_LINES) or 1], form


def _later_pieces(path: Path, form: TextForm, most: int) -> list[bytes]:
    """Lines after a first one that is longer than the sample, in so many bytes (-1: in all)."""
    found: list[bytes] = []
    with reading(path) as file:
        stream = file if most < 0 else BytesIO(file.read(most))
        for number, start, raw in read_lines(stream, form):
            if number and raw is not None and raw.strip():
                found.append(form.utf8(raw))
            if number >= 20 or start > LINE_LIMIT:
                break
    return found


def _object(line: bytes) -> dict[str, object] | None:
    stripped = line.strip()
    if not stripped.startswith(b"{"):
        return None
    if looks_like_claude(stripped):
        return CLAUDE_RECORD
    try:
        found = outline(memoryview(stripped), 2)
        if not isinstance(found, dict) or not is_claude(found):
            found = outline(memoryview(stripped), 3)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _run_together(line: bytes) -> list[dict[str, object]]:
    """The first records of a line that holds several."""
    found = (_object(piece) for _, piece in islice(json_pieces(line), 3))
    return [each for each in found if each]


def _line_reader(path: Path, form: TextForm, lines: tuple[int, float], votes: Counter[str]) -> Scan:
    name = votes.most_common(1)[0][0]
    if name == CLAUDE_CODE:
        return ClaudeCodeScan(path, form, lines)
    if name == CHAT:
        return ChatScan(path, form, lines)
    raise SourceError(f"{path} is in a known format not read yet: {name}.")


def _document(path: Path, form: TextForm) -> bytes | None:
    """The UTF-8 text of a JSON document that holds conversations; None when it is no JSON.

    Raises SourceError when the document is too large, or holds something else.
    """
    with reading(path) as stream:
        stream.seek(form.bom)
        document = form.utf8(stream.read(DOCUMENT_LIMIT + 1))
    if len(document) > DOCUMENT_LIMIT:
        raise SourceError(
            f"{path} is one JSON document of more than {DOCUMENT_LIMIT // 1_000_000} MB: "
            "split it into files of one conversation each."
        )
    try:
        shape = outline(memoryview(document.strip()), 5)
    except RecursionError:
        raise SourceError(f"{path} cannot be read: its JSON is nested too deep.") from None
    except ValueError:
        return None
    name = document_format(shape)
    if name == CHAT:
        return document
    if name is None:
        raise OtherKindError(f"{path} is not text that reviewer reads: {NO_CONVERSATION}.")
    raise SourceError(f"{path} is in a known format not read yet: {name}.")
