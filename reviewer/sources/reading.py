"""A file being read: its lines with their positions, its tally and its damage."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field

from reviewer.sources.events import Origin
from reviewer.sources.fields import Fields, words
from reviewer.sources.json_values import json_pieces
from reviewer.sources.lines import BLOCK, opened_file, read_lines
from reviewer.sources.markdown import NoteLine

Line = TypeVar("Line")
_values = msgspec.json.Decoder(object)
TEXT_LINE_LIMIT = 1_000_000
"""Maximum bytes of a text line; a longer one is data, not writing."""
UNPRINTABLE = re.compile(r"[^\w .:/$-]")
ODD_ESCAPE = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u(?:(?![0-9a-fA-F]{4})"
    rb"|[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""Truncated escapes and lone surrogates, left by collectors that mask strings."""


class Spot(Struct, frozen=True, gc=False):
    """The position of a turn: 0-based half-open lines and bytes, and the bytes themselves.

    In a database or archive `line_start` counts rows, and `byte_start` equals `byte_end`.
    """

    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    raw: bytes | memoryview

    def origin(self, key: str = "", **facts: Any) -> Origin:
        """The record at this position; without a key, its hash is its key."""
        digest = hashlib.sha256(self.raw).hexdigest()
        return Origin(
            key or f"sha256:{digest}",
            self.line_start,
            self.line_end,
            self.byte_start,
            self.byte_end,
            digest,
            **facts,
        )


def row_spot(row: int, raw: bytes | str) -> Spot:
    """The position of a database row or archive item."""
    data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    return Spot(row, row + 1, 0, 0, data)


def spot_of(lines: Sequence[NoteLine]) -> Spot:
    first, last = lines[0], lines[-1]
    raw = b"\n".join(line.raw for line in lines)
    return Spot(first.number, last.number + 1, first.start, last.start + len(last.raw), raw)


class Reading(Struct):
    """A file being read: its lines or its document, its tally and its damage."""

    path: Path
    bom: int = 0
    """Length of its byte order mark."""
    first: int = 0
    end: float = float("inf")
    """The lines to read, 0-based and half-open."""
    document: bytes | None = None
    """The text of a file that is one JSON document."""
    sessions: frozenset[str] | None = None
    """The sessions to read from a file with several projects; None: all."""
    tally: Counter[str] = field(default_factory=Counter)
    """Reason -> skipped lines (or messages): `tool result`, `progress`, `bad JSON`."""
    errors: list[str] = field(default_factory=list)
    """Damage for `errors.log`, with its position; one bad record never raises an error."""

    def objects(self) -> Iterator[tuple[Spot, Fields]]:
        """Every JSON object of a file with one object per line, with its position."""
        for spot, value in self.lines(_values.decode, _is_object):
            if isinstance(value, dict):
                yield spot, value
            else:
                self.tally["not a record"] += 1

    def lines(
        self, decode: Callable[[bytes], Line], is_whole: Callable[[Line], bool]
    ) -> Iterator[tuple[Spot, Line]]:
        """Every line of a file, decoded, with its position; damage is counted and reported.

        `decode` raises ValueError or RecursionError for unreadable lines. From a damaged line, the
        intact pieces that are `is_whole` are yielded.
        """
        tally, errors = self.tally, self.errors
        with opened_file(self.path) as stream:
            for number, start, raw in read_lines(stream, self.bom):
                if raw is None:
                    tally["line over 32 MB"] += 1
                    errors.append(f"line {number + 1}: longer than 32 MB, skipped")
                    continue
                if not raw or raw.isspace():
                    continue
                try:
                    value = decode(raw)
                except RecursionError:
                    tally["nested too deep"] += 1
                    errors.append(f"line {number + 1}: nested too deep to read")
                    continue
                except ValueError:
                    try:
                        value = mended(decode, raw, tally)
                    except (ValueError, RecursionError):
                        tally["bad JSON"] += 1
                        errors.append(f"line {number + 1}: not a JSON record")
                        spot = Spot(number, number + 1, start, start + len(raw), raw)
                        yield from _recovered(spot, decode, is_whole, tally)
                        continue
                yield Spot(number, number + 1, start, start + len(raw), raw), value

    def text_lines(self) -> Iterator[NoteLine]:
        """Every line of a text file, with its position; damage is counted and reported."""
        with opened_file(self.path) as stream:
            for number, start, raw in read_lines(stream, self.bom, TEXT_LINE_LIMIT):
                if raw is None:
                    self.tally["line over 1 MB"] += 1
                    self.errors.append(f"line {number + 1}: longer than 1 MB, skipped")
                    yield NoteLine(number, "", start, too_long=True)
                    continue
                try:
                    text = raw.decode()
                except UnicodeDecodeError:
                    text = raw.decode("utf-8", "replace")
                    self.tally["invalid UTF-8"] += 1
                text = text.removesuffix("\r").replace("\0", "\ufffd")
                yield NoteLine(number, text, start, raw)

    def digest(self, start: int, end: int) -> str:
        """The sha256 of bytes already read, in hex."""
        digest = hashlib.sha256()
        with opened_file(self.path) as stream:
            stream.seek(start)
            while start < end and (block := stream.read(min(BLOCK, end - start))):
                digest.update(block)
                start += len(block)
        return digest.hexdigest()

    def damaged(self, where: str, problem: Exception) -> None:
        """Count and report an unreadable part of a document."""
        deep = isinstance(problem, RecursionError)
        self.tally["nested too deep" if deep else "bad JSON"] += 1
        self.errors.append(f"{where}: {'nested too deep to read' if deep else 'not JSON'}")


def last_versions(reading: Reading, name: str, between: str = "") -> Iterator[tuple[Spot, Fields]]:
    """The objects of a file that rewrites growing records: each in its last version.

    `name`: the field with a record's id. Objects with the field `between` may come between two
    versions and are yielded before them.
    """
    held: tuple[Spot, Fields] | None = None
    for spot, record in reading.objects():
        if between and between in record:
            yield spot, record
            continue
        if held is not None:
            its = words(record.get(name))
            if its and its == held[1].get(name):
                reading.tally["message written again later"] += 1
            else:
                yield held
        held = spot, record
    if held is not None:
        yield held


def decoded(data: bytes | memoryview, tally: Counter[str]) -> object:
    """A JSON value; bytes that are not UTF-8 are replaced and counted.

    Raises ValueError or RecursionError if it cannot be read.
    """
    try:
        return _values.decode(data)
    except ValueError:
        return mended(_values.decode, data, tally)


def mended(decode: Callable[[bytes], Line], data: bytes | memoryview, tally: Counter[str]) -> Line:
    """A JSON value that becomes readable by replacing invalid UTF-8 and invalid escapes.

    Raises ValueError or RecursionError if it does not.
    """
    data, replaced = bytes(data), False
    try:
        data.decode()
    except UnicodeDecodeError:
        data, replaced = data.decode("utf-8", "replace").encode(), True
    try:
        value = decode(data)
    except msgspec.DecodeError:
        clean = ODD_ESCAPE.sub(rb"\1\\ufffd", data)
        if clean == data:
            raise
        value = decode(clean)
        tally["odd escapes replaced"] += 1
    if replaced:
        tally["invalid UTF-8"] += 1
    return value


def silent(tally: Counter[str], kind: object) -> None:
    """Count a record without a turn, under its kind in the file."""
    tally[_printable(words(kind)[:40])] += 1


@lru_cache(maxsize=256)
def _printable(kind: str) -> str:
    return UNPRINTABLE.sub("?", kind) or "(none)"


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and len(value) > 1


def _recovered(
    spot: Spot,
    decode: Callable[[bytes], Line],
    is_whole: Callable[[Line], bool],
    tally: Counter[str],
) -> Iterator[tuple[Spot, Line]]:
    """The intact records inside a damaged line."""
    for offset, piece in json_pieces(bytes(spot.raw)):
        try:
            value = mended(decode, piece, tally)
        except (ValueError, RecursionError):
            continue
        if is_whole(value):
            tally["recovered from a damaged line"] += 1
            start = spot.byte_start + offset
            yield Spot(spot.line_start, spot.line_end, start, start + len(piece), piece), value
