"""A format: how a family of files is recognised by content, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from reviewer.sources.lines import TextForm
from reviewer.sources.records import BlockScan, Scan

Fields = Mapping[str, object]
"""A JSON object: the outline of a record, three levels deep, or of a document, five levels deep."""


class Source(Struct, frozen=True):
    """A file whose format is known, ready to be read.

    `lines` are 0-based and half-open; only records inside them are read. `document` is the UTF-8
    text of a file that is one JSON document.
    """

    path: Path
    form: TextForm
    lines: tuple[int, float]
    document: bytes | None = None


class Format(Struct, frozen=True, kw_only=True):
    """One family of files. Each `detect_...` function gets a part of the file; formats are tested
    in the order of the registry (`FORMATS` in `open.py`).
    """

    name: str
    detect_head: Callable[[bytes], bool] | None = None
    """Whether a file with these first bytes is of this format; for files that are not text."""
    detect_record: Callable[[Fields], bool] | None = None
    """Whether a JSON object is a record of this format, in a file with one object a line."""
    detect_document: Callable[[Fields], bool] | None = None
    """Whether a JSON document is of this format; for a list, its first object is tested."""
    detect_text: Callable[[str], bool] | None = None
    """Whether a text with this beginning is of this format."""
    read: Callable[[Source], Scan] | None = None
    """None: the format is recognised but not supported yet."""
    read_blocks: Callable[[Source], BlockScan] | None = None
    """Reads thoughts, tool calls and results besides text; None: each record is one block."""


def is_among(value: object, names: frozenset[str]) -> bool:
    """Whether a value of any JSON type is one of some names."""
    return isinstance(value, str) and value in names
