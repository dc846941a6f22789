"""Files with rows instead of lines: databases and archives."""

from __future__ import annotations

from pathlib import Path

from reviewer.files import open_file
from reviewer.sources.archives import is_archive
from reviewer.sources.databases import is_database
from reviewer.sources.events import Call, Compaction, Event, Message, Notice, Result, Thought
from reviewer.sources.stream import read

HEAD_BYTES = 16


def has_rows(path: Path) -> bool:
    """Whether a file is a database or archive, whose records are rows. Raises OSError."""
    with open_file(path) as stream:
        head = stream.read(HEAD_BYTES)
    return is_database(head) or is_archive(head)


def shown_rows(path: Path, first: int, last: int) -> dict[int, str]:
    """The rows from `first` up to `last` (0-based, half-open), each as one line of text.

    Raises SourceError if the file cannot be read.
    """
    rows: dict[int, list[str]] = {}
    for event in read(path, line_start=first, line_end=last):
        if text := _row(event):
            rows.setdefault(event.origin.line_start, []).append(" ".join(text.split()))
    return {number: " | ".join(texts) for number, texts in rows.items()}


def _row(event: Event) -> str:
    if isinstance(event, Message):
        return f"{event.speaker}: {event.text}"
    if isinstance(event, Call):
        return f"agent calls {event.tool}: {event.text}"
    if isinstance(event, Result):
        return f"{event.tool} returns: {event.text}"
    if isinstance(event, Thought):
        return f"agent thinks: {event.text}"
    if isinstance(event, Compaction):
        return f"summary: {event.summary}"
    return f"{event.kind}: {event.text}" if isinstance(event, Notice) else ""
