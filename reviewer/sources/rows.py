"""Files that have rows instead of lines: databases and archives."""

from __future__ import annotations

from pathlib import Path

from reviewer.files import open_file
from reviewer.sources.archives import is_archive
from reviewer.sources.databases import is_database
from reviewer.sources.open import open_blocks

HEAD_BYTES = 16


def has_rows(path: Path) -> bool:
    """Whether a file is a database or an archive, whose records are rows. Raises OSError."""
    with open_file(path) as stream:
        head = stream.read(HEAD_BYTES)
    return is_database(head) or is_archive(head)


def shown_rows(path: Path, first: int, last: int) -> dict[int, str]:
    """The rows from `first` to before `last` (0-based) as text on one line each.

    Raises SourceError when the file cannot be read.
    """
    rows: dict[int, list[str]] = {}
    for block in open_blocks(path, line_start=first, line_end=last):
        kind = "" if block.kind == "text" else f" {block.kind.replace('_', ' ')} {block.name}"
        text = " ".join(block.text.split())
        rows.setdefault(block.line_start, []).append(f"{block.role}{kind.rstrip()}: {text}")
    return {number: " | ".join(texts) for number, texts in rows.items()}
