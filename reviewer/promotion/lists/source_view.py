"""Looks into source files: whether a record is still there, and the lines around it."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from reviewer.errors import SourceError
from reviewer.promotion.rows.decided_rows import OF_DECISION
from reviewer.promotion.views import SourceState
from reviewer.sources.claude_words import command_called
from reviewer.sources.elsewhere import is_url
from reviewer.sources.unpacked import is_compressed, open_unpacked
from reviewer.store.acts import AMONG, listed
from reviewer.store.database import Database
from reviewer.text.placeholder import MASK
from reviewer.text.secrets import mask

BLOCK = 1 << 20
"""Bytes read at a time."""

LINE_CUT = 4_000
"""Characters of a line in a window; transcripts have lines of several megabytes."""

CUT_OVERLAP = 1_000
"""Characters read after the cut, so that a secret cut in half is still recognised."""

BYTES_SHOWN = 4 * (LINE_CUT + CUT_OVERLAP)
"""Bytes of a line kept while reading: UTF-8 needs at most four per character."""

MAX_SEARCHED = 1 << 20
"""Bytes of a changed file that `stale` searches at most."""

QUOTE = "substr(r.text, e.span_start + 1, e.span_end - e.span_start)"
"""The cited words of a record, in SQL."""
SEARCHED = 64 << 20
"""Bytes of a changed file that are searched for a moved record."""


class FileWindow(Struct, frozen=True):
    """Lines of a file, from the 0-based `first_line` on; `total_lines` is None if unknown."""

    path: str
    first_line: int
    lines: tuple[str, ...]
    total_lines: int | None


class CitedText(Struct, frozen=True):
    """A part of a file that is evidence of a memory; lines are 0-based and half-open."""

    memory: int
    line_start: int
    line_end: int
    text: str


class SessionRead(Struct, frozen=True):
    path: str
    last: str
    """The time of the last message; empty if its format has none."""
    request: str
    """The first request by a person."""
    requests: int = 0
    """The messages of the person, and the commands that they called."""
    format: str = ""


class SourceView:
    """Reads the files that records came from. All methods touch the disk."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def stamps(self, project: str | None) -> dict[str, set[tuple[int, int]]]:
        """Path -> size and time in ns of the files read to their end into a project, or into any. A
        negative size means that only some sessions of the file were read.
        """
        rows = self._database.query(
            "SELECT path, bytes, modified_ns FROM source WHERE bytes <> -1 AND (?1 IS NULL"
            " OR project_id = (SELECT id FROM project WHERE name = ?1))",
            (project,),
        )
        found: dict[str, set[tuple[int, int]]] = {}
        for path, size, modified in rows:
            found.setdefault(path, set()).add((size, modified))
        return found

    def sessions(self, project: str | None) -> list[SessionRead]:
        """The sessions read into a project, or into any, without copies that add nothing to another
        file.
        """
        asked = "FROM record r WHERE r.source_id = s.id AND r.role = 'user' AND r.use = 'said'"
        rows = session_rows(
            self._database,
            project,
            "(SELECT r.at FROM record r"
            " WHERE r.source_id = s.id AND r.at IS NOT NULL ORDER BY r.line_start DESC LIMIT 1)",
            f"(SELECT substr(r.text, 1, 2000) {asked} ORDER BY r.line_start LIMIT 1)",
            f"(SELECT count(*) {asked})",
            "s.format",
        )
        commands = Counter(
            path for path, text in self._commands(project) if command_called(text.strip())
        )
        found: dict[str, SessionRead] = {}
        for path, last, said, times, format_ in rows:
            if last or said:
                asked_for = times + commands[path]
                read = SessionRead(path, last or "", said or "", asked_for, format_)
                found.setdefault(path, read)
        return list(found.values())

    def _commands(self, project: str | None) -> list[sqlite3.Row]:
        """The files and texts in which the person may have called a command."""
        return self._database.query(
            "SELECT s.path, r.text FROM source s CROSS JOIN record r ON r.source_id = s.id"
            " WHERE s.bytes <> -1 AND r.role = 'user' AND r.use = 'wrapper'"
            " AND r.text LIKE '%<command-%' AND (?1 IS NULL"
            " OR s.project_id = (SELECT id FROM project WHERE name = ?1))",
            (project,),
        )

    def state(self, memory: int) -> SourceState:
        """Whether the file still has the bytes of a memory's first evidence."""
        for _, path, start, end, digest, quote in self._first_evidence([memory]):
            return record_state(path, start, end, digest, quote=quote)
        return SourceState.UNKNOWN

    def stale(self, memories: Sequence[int]) -> set[int]:
        """The memories whose first evidence is gone from its file, by a cheap check for lists.

        A file longer than MAX_SEARCHED with other bytes at the place is not searched, and its
        memories are left out: `state` checks them.
        """
        return {
            memory
            for memory, *place, quote in self._first_evidence(memories)
            if record_state(*place, searched=MAX_SEARCHED, quote=quote)
            in (SourceState.CHANGED, SourceState.GONE)
        }

    def _first_evidence(self, memories: Sequence[int]) -> list[sqlite3.Row]:
        """The first evidence of each memory: its file, bytes, hash and quote."""
        return self._database.query(
            f"SELECT e.memory_id, s.path, r.byte_start, r.byte_end, r.sha256, {QUOTE}"
            " FROM evidence e JOIN record r ON r.id = e.record_id"
            " JOIN source s ON s.id = r.source_id WHERE s.format <> 'seed' AND e.id IN"
            f" (SELECT min(id) FROM evidence WHERE memory_id {AMONG} GROUP BY memory_id)",
            (listed(memories),),
        )

    def cited(self, path: str) -> list[CitedText]:
        """The passages of a file cited by waiting or active memories, in the order of its lines."""
        rows = self._database.query(
            "SELECT e.memory_id, r.line_start, r.line_end,"
            f" {QUOTE}"
            " FROM source s JOIN record r ON r.source_id = s.id"
            " JOIN evidence e ON e.record_id = r.id JOIN memory m ON m.id = e.memory_id"
            " WHERE s.path = ? AND m.status IN ('candidate', 'active')"
            " ORDER BY r.line_start, e.span_start",
            (path,),
        )
        return [CitedText(*row) for row in rows]

    def lines(self, path: str, around_line: int, *, context: int = 200) -> FileWindow:
        """The lines from `context` before to `context` after a 0-based line.

        Secrets are masked and lines cut at LINE_CUT characters. Raises SourceError if the file
        cannot be read.
        """
        if is_url(path):
            raise SourceError(f"{path} is not on this machine.")
        if not os.path.isabs(path) or ".." in Path(path).parts:
            raise SourceError(f"{path} is not opened: it is not the full path of a file.")
        first, last = max(0, around_line - context), around_line + context + 1
        return window(Path(path), first, last)


def session_rows(database: Database, project: str | None, *columns: str) -> list[sqlite3.Row]:
    """The path and these columns of the files `s` of sessions read into a project, or into any, the
    newest first. Sub-agents' sessions are in the one that started them.
    """
    from reviewer.sources.open import NOTE_FORMATS, is_of_subagent  # late: all formats

    others = (*NOTE_FORMATS, "seed", OF_DECISION, "")
    rows = database.query(
        f"SELECT s.path, {', '.join(columns)} FROM source s WHERE s.bytes <> -1"
        " AND (?1 IS NULL OR s.project_id = (SELECT id FROM project WHERE name = ?1))"
        f" AND s.format NOT IN ({','.join('?' * len(others))})"
        " ORDER BY s.modified_ns DESC, s.id DESC",
        (project, *others),
    )
    return [row for row in rows if not is_of_subagent(Path(row["path"]))]


def record_state(
    place: str | Path,
    byte_start: int,
    byte_end: int,
    sha256: str,
    *,
    searched: int | None = None,
    quote: str = "",
) -> SourceState:
    """Compare a record's bytes with the current file.

    A record that was changed only around its cited words, its `quote`, counts as MOVED.

    With `searched`, a file of more bytes without them at their place is UNKNOWN.
    """
    import hashlib  # late: most calls compare no file

    size = byte_end - byte_start
    if is_url(str(place)):
        return SourceState.UNKNOWN  # nothing is fetched
    path = Path(place)
    try:
        if searched is not None and is_compressed(path):
            return SourceState.UNKNOWN  # unpacking each file of a list would take too long
        with open_unpacked(path) as file:
            if size == 0 and sha256:  # a row of a database or of an archive
                return SourceState.UNKNOWN
            file.seek(byte_start)
            if hashlib.sha256(file.read(size)).hexdigest() == sha256:
                return SourceState.SAME
            if searched is not None and path.stat().st_size > searched:
                return SourceState.UNKNOWN
            file.seek(0)
            data = file.read(SEARCHED).replace(b"\r\n", b"\n")
            found = quote.strip() and _has(data, quote)
            return SourceState.MOVED if found else SourceState.CHANGED
    except FileNotFoundError:
        return SourceState.GONE
    except OSError:
        return SourceState.UNKNOWN


def _has(data: bytes, quote: str) -> bool:
    """Whether a quote is in a file, which still has the secrets that are masked in the quote."""
    import json  # late: most calls compare no file

    first, *masked = quote.split(MASK)
    parts = filter(str.strip, (first, *(each.partition("]")[2] for each in masked)))
    return all(
        text.encode("utf-8", "replace") in data
        or json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace") in data
        or json.dumps(text)[1:-1].encode() in data
        for text in parts
    )


def window(path: Path, first: int, last: int) -> FileWindow:
    """The lines `first` to `last` (0-based, half-open) of a file. Raises SourceError."""
    from reviewer.sources.rows import has_rows  # late: most verbs show no file

    try:
        if has_rows(path):
            return _rows(path, first, last)
        return _window(path, first, last)
    except OSError as problem:
        raise SourceError(f"Cannot read {path}: {problem.strerror}.") from problem


def _rows(path: Path, first: int, last: int) -> FileWindow:
    """The rows of a database or an archive; unreadable ones are empty."""
    from reviewer.sources.rows import shown_rows  # late, as above

    rows = shown_rows(path, first, last)
    end = max(rows, default=first - 1) + 1
    texts = [rows.get(number, "").encode() for number in range(first, end)]
    return FileWindow(str(path), first, _decoded(texts), end if end < last else None)


def _window(path: Path, first: int, last: int) -> FileWindow:
    number, lines = 0, list[bytes]()
    with open_unpacked(path) as file:
        while line := file.readline(BYTES_SHOWN):
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = file.readline(BLOCK)
            if number >= last:
                return FileWindow(str(path), first, _decoded(lines), None)
            if number >= first:
                lines.append(line.removesuffix(b"\n"))
            number += 1
    return FileWindow(str(path), first, _decoded(lines), number)


def _decoded(lines: list[bytes]) -> tuple[str, ...]:
    """The lines as text, secrets masked; the part after the cut serves that only."""
    longer = LINE_CUT + CUT_OVERLAP
    texts = (line.decode("utf-8", "replace").rstrip("\r")[:longer] for line in lines)
    masked = mask("\n".join(texts)).text  # lines stay lines
    return tuple(line[:LINE_CUT] for line in masked.split("\n")) if lines else ()
