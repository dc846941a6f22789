"""A file that is about to be read."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from reviewer.sources.lines import TextForm


class Source(Struct, frozen=True):
    """A file whose format is known, ready to be read.

    `lines` are 0-based and half-open; only records inside them are read. `document` is the UTF-8
    text of a file that is one JSON document.
    """

    path: Path
    form: TextForm
    lines: tuple[int, float]
    document: bytes | None = None
    sessions: frozenset[str] | None = None
    """The sessions to read from a file with those of several projects; None: all."""
