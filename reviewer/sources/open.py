"""Recognises a file's format by content and opens it with the right reader."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from reviewer.errors import OtherKindError, SourceError
from reviewer.files import unreadable
from reviewer.sources import archives, databases, notes
from reviewer.sources.binary import looks_binary
from reviewer.sources.format import Format
from reviewer.sources.formats import chat
from reviewer.sources.json_values import json_pieces, outline
from reviewer.sources.lines import LINE_LIMIT, bom_of, opened_file, read_lines
from reviewer.sources.own_files import is_packet
from reviewer.sources.prose import NOTE_NAMES, PROSE_NAMES, is_prose
from reviewer.sources.reading import Reading
from reviewer.sources.registry import FORMATS
from reviewer.sources.turns import Turn
from reviewer.sources.unpacked import is_compressed, plain_suffix

HEAD_BYTES = 64_000
DOCUMENT_LIMIT = 256_000_000
BINARY_LIMIT = 16_000_000
"""Bytes of a seemingly binary file searched for records, because NULs may precede them after a
power failure."""
SAMPLE_LINES = 8
"""Number of lines to examine, spread over the sample."""
NOTE_FORMATS = frozenset({"markdown", "empty"})
"""Formats without conversations."""
NO_CONVERSATION = "JSON in no known conversation format"
JSON_START = re.compile(rb'\s*+(?:\{\s*+"|\[\s*+\[?\s*+\{)')


def _nothing(reading: Reading) -> Iterator[Turn]:
    reading.tally["empty file"] += 1
    return iter(())


_EMPTY = Format(name="empty", turns=_nothing)


def is_of_subagent(path: Path) -> bool:
    """Whether a file is a sub-agent's report, which is in the session that started it, too."""
    return path.parent.name == "subagents"


def is_session(path: Path) -> bool:
    """Whether a file can be read as a conversation between a person and an agent."""
    if is_of_subagent(path):
        return False
    try:
        return format_of(path).name not in NOTE_FORMATS
    except SourceError:
        return False


def format_of(path: Path) -> Format:
    """The format of a file. Raises OtherKindError or SourceError."""
    return recognised(path)[0]


def recognised(path: Path) -> tuple[Format, Reading]:
    """A file's format, and the file, ready to be read.

    The first 64 kB decide the format or, if the first line is longer, the lines after it. Raises
    OtherKindError if reviewer does not read this kind of file, and SourceError if it cannot be
    read.
    """
    with opened_file(path) as stream:
        head = stream.read(HEAD_BYTES)
        reading = Reading(path, bom_of(head))
        return _sniffed(reading, head, stream), reading


def _sniffed(reading: Reading, head: bytes, stream: BinaryIO) -> Format:
    """A file's format; of one that is a JSON document, its text is now in `reading`."""
    path, bom = reading.path, reading.bom
    sample = head[bom:]
    if databases.is_database(head) or archives.is_archive(head):
        return _container_format(path, databases.is_database(head))
    if not sample.strip():
        return _EMPTY
    pieces = _pieces(sample)
    objects = [each for piece in pieces if (each := _object(piece))]
    binary = looks_binary(head)
    if not objects and len(pieces) < 2:
        pieces += _later_pieces(stream, bom, BINARY_LIMIT if binary else -1)
        objects = [each for piece in pieces if (each := _object(piece))]
    if not objects:
        # A line may have several records run together.
        runs = (islice(json_pieces(line), 3) for line in pieces[:20])
        objects = [each for run in runs for _, piece in run if (each := _object(piece))]
    votes = Counter(number for each in objects if (number := _record_format(each)) is not None)
    by_records = FORMATS[votes.most_common(1)[0][0]] if votes else None
    begins = sample.lstrip()[:1]
    # A single message may occur in any text; agent records hardly ever do.
    enough = 0.3 if by_records is chat.FORMAT and len(votes) == 1 else 0.1
    mostly_records = len(objects) >= enough * len(pieces)
    if by_records and begins != b"[" and mostly_records:
        return by_records
    if not by_records and binary:
        raise _other_kind(path, "it is binary")
    if begins in (b"[", b"{"):
        document, shape = _document(path, stream, bom)
        if shape is not None:
            reading.document = document
            return _document_format(path, shape)
    json = JSON_START.match(sample)
    if by_records and (mostly_records or json):
        return by_records
    if json:
        if objects:
            raise _other_kind(path, NO_CONVERSATION)
        raise SourceError(f"{path} is not text that reviewer reads: damaged JSON.")
    text = sample.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return _text_format(path, text)


def _container_format(path: Path, is_database: bool) -> Format:
    """The format of a database by its tables, or of an archive by its members."""
    try:
        packed = is_compressed(path)
    except OSError as problem:
        raise unreadable(path, problem) from None
    if packed:  # rows require a plain file
        raise _other_kind(path, "it is a compressed database or archive (unpack it first)")
    names = databases.tables(path) if is_database else archives.members(path)
    for each in FORMATS:
        test = each.detect_tables if is_database else each.detect_members
        if test is not None and test(names):
            return each
    what = "a database of another program" if is_database else "an archive without chats"
    raise _other_kind(path, f"it is {what}")


def _record_format(record: dict[str, object]) -> int | None:
    """The index of the first format that recognises a JSON object as a record."""
    tests = enumerate(each.detect_record for each in FORMATS)
    return next((number for number, test in tests if test is not None and test(record)), None)


def _document_format(path: Path, shape: object) -> Format:
    """The format of an outlined JSON document; for a list, its first object is tested."""
    for _ in range(3):
        if isinstance(shape, list):
            shape = next((item for item in shape if isinstance(item, (dict, list))), None)
    if isinstance(shape, dict):
        for each in FORMATS:
            if each.detect_document is not None and each.detect_document(shape):
                return each
    raise _other_kind(path, NO_CONVERSATION)


def _other_kind(path: Path, what: str) -> OtherKindError:
    return OtherKindError(f"{path} is not text that reviewer reads: {what}.")


def _text_format(path: Path, text: str) -> Format:
    """The format of a non-JSON text: a marked conversation, or a note."""
    suffix = plain_suffix(path).lower()
    if is_packet(text):
        raise _other_kind(path, "a packet of its own")
    if suffix not in PROSE_NAMES:
        raise _other_kind(path, "its name is not that of a note")
    for each in FORMATS:
        if each.detect_text is not None and each.detect_text(text):
            return each
    if suffix not in NOTE_NAMES and not is_prose(text):
        raise _other_kind(path, "markup, code, a table, a log or other data")
    return notes.FORMAT


def _pieces(sample: bytes) -> list[bytes]:
    """Non-blank lines, spread over the sample."""
    parts = sample.split(b"\n")
    if len(sample) >= HEAD_BYTES // 2 and len(parts) > 1:
        parts.pop()  # cut off at the end of the sample
    parts = [part for part in parts if part.strip()]
    return parts[:: -(-len(parts) // SAMPLE_LINES) or 1]


def _later_pieces(stream: BinaryIO, bom: int, most: int) -> list[bytes]:
    """The lines after a first line longer than the sample, up to `most` bytes (-1: all)."""
    found: list[bytes] = []
    stream.seek(0)
    lines = stream if most < 0 else BytesIO(stream.read(most))
    for number, start, raw in read_lines(lines, bom):
        if number and raw is not None and raw.strip():
            found.append(raw)
        if number >= 20 or start > LINE_LIMIT:
            break
    return found


def _object(line: bytes) -> dict[str, object] | None:
    stripped = line.strip()
    if not stripped.startswith(b"{"):
        return None
    try:
        found = outline(memoryview(stripped), 3)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _document(path: Path, stream: BinaryIO, bom: int) -> tuple[bytes, object]:
    """The text of a file that is one JSON document, and its outline (None: not JSON).

    Raises SourceError if the document is too large or nested too deep.
    """
    if os.fstat(stream.fileno()).st_size > DOCUMENT_LIMIT:
        raise SourceError(
            f"{path} is one JSON document of more than {DOCUMENT_LIMIT // 1_000_000} MB: "
            "split it into files of one conversation each."
        )
    stream.seek(bom)
    document = stream.read(DOCUMENT_LIMIT)
    try:
        return document, outline(memoryview(document.strip()), 5)
    except RecursionError:
        raise SourceError(f"{path} cannot be read: its JSON is nested too deep.") from None
    except ValueError:
        return document, None
