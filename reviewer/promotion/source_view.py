"""Looks into source files: whether a record is still there, and the lines around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from reviewer.errors import ReadStoppedError, SourceError
from reviewer.promotion.views import SourceState
from reviewer.sources.unpacked import is_compressed, open_unpacked
from reviewer.store.acts import chunks
from reviewer.store.database import Database, failures_as_sentences
from reviewer.text.secrets import mask

BLOCK = 1 << 20
"""Bytes read at a time."""

LINE_CUT = 4_000
"""Characters of a line that a window shows; transcripts have lines of several megabytes."""

READ_ON = 1_000
"""Characters read behind the cut, so that a secret cut in half is still recognised."""

BYTES_SHOWN = 4 * (LINE_CUT + READ_ON)
"""Bytes of a line that are kept while reading: UTF-8 needs four a character at most."""

LOOKED_THROUGH = 1 << 20
"""Bytes of a changed file that `stale` searches at most."""

SEARCHED = 64 << 20
"""Bytes of a changed file that are searched for a moved record."""


class FileWindow(Struct, frozen=True):
    """Lines of a file, from the 0-based `first_line` on; `total_lines` is None when unknown."""

    path: str
    first_line: int
    lines: tuple[str, ...]
    total_lines: int | None


class CitedText(Struct, frozen=True):
    """A part of a file that is the evidence of a memory; lines are 0-based and half-open."""

    memory: int
    line_start: int
    line_end: int
    text: str


class SourceView:
    """Reads the files that records came from. Everything here touches the disk."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def paths(self, project: str | None) -> list[str]:
        """The files that were read into a project, or into all of them, the latest first."""
        with failures_as_sentences(self._database.path):
            rows = (
                self._database.reader()
                .execute(
                    "SELECT path FROM source WHERE format <> 'seed' AND (?1 IS NULL OR project_id ="
                    " (SELECT id FROM project WHERE name = ?1)) ORDER BY id DESC",
                    (project,),
                )
                .fetchall()
            )
        return [str(path) for (path,) in rows]

    def stamps(self, project: str | None) -> dict[str, set[tuple[int, int]]]:
        """Path -> size and time in ns of the files that were read to their end into a project, or
        into any. A negative size says that only some sessions of the file were read.
        """
        with failures_as_sentences(self._database.path):
            rows = (
                self._database.reader()
                .execute(
                    "SELECT path, bytes, modified_ns FROM source WHERE bytes <> -1 AND (?1 IS NULL"
                    " OR project_id = (SELECT id FROM project WHERE name = ?1))",
                    (project,),
                )
                .fetchall()
            )
        found: dict[str, set[tuple[int, int]]] = {}
        for path, size, modified in rows:
            found.setdefault(path, set()).add((size, modified))
        return found

    def state(self, memory: int) -> SourceState:
        """Whether the file still has the bytes behind a memory's first evidence."""
        with failures_as_sentences(self._database.path):
            row = (
                self._database.reader()
                .execute(
                    "SELECT s.path, s.format, r.byte_start, r.byte_end, r.sha256 FROM evidence e"
                    " JOIN record r ON r.id = e.record_id JOIN source s ON s.id = r.source_id"
                    " WHERE e.memory_id = ? ORDER BY e.id LIMIT 1",
                    (memory,),
                )
                .fetchone()
            )
        if row is None or row["format"] == "seed":
            return SourceState.UNKNOWN
        return record_state(Path(row["path"]), row["byte_start"], row["byte_end"], row["sha256"])

    def stale(
        self, memories: Sequence[int], *, cancelled: Callable[[], bool] | None = None
    ) -> set[int]:
        """Those whose first evidence is gone from its file, for a list: with a cheap check of each.

        Raises ReadStoppedError once `cancelled` returns True.

        A file that is longer than LOOKED_THROUGH and has other bytes at the place is not
        searched, and its memories are left out: `state` checks them.
        """
        found: set[int] = set()
        for chunk in chunks(list(memories)):
            if cancelled is not None and cancelled():
                raise ReadStoppedError("What was read is not wanted any more.")
            with failures_as_sentences(self._database.path):
                rows = (
                    self._database.reader()
                    .execute(
                        "SELECT e.memory_id, s.path, r.byte_start, r.byte_end, r.sha256"
                        " FROM evidence e JOIN record r ON r.id = e.record_id"
                        " JOIN source s ON s.id = r.source_id WHERE s.format <> 'seed' AND e.id IN"
                        " (SELECT min(id) FROM evidence WHERE memory_id IN"
                        f" ({','.join('?' * len(chunk))}) GROUP BY memory_id)",
                        chunk,
                    )
                    .fetchall()
                )
            for memory, path, start, end, sha256 in rows:
                state = record_state(Path(path), start, end, sha256, searched=LOOKED_THROUGH)
                if state in (SourceState.CHANGED, SourceState.GONE):
                    found.add(memory)
        return found

    def cited(self, path: str) -> list[CitedText]:
        """What the memories that wait or are active cite of a file, in the order of its lines."""
        with failures_as_sentences(self._database.path):
            rows = (
                self._database.reader()
                .execute(
                    "SELECT e.memory_id, r.line_start, r.line_end,"
                    " substr(r.text, e.span_start + 1, e.span_end - e.span_start)"
                    " FROM source s JOIN record r ON r.source_id = s.id"
                    " JOIN evidence e ON e.record_id = r.id JOIN memory m ON m.id = e.memory_id"
                    " WHERE s.path = ? AND m.status IN ('candidate', 'active')"
                    " ORDER BY r.line_start, e.span_start",
                    (path,),
                )
                .fetchall()
            )
        return [CitedText(*row) for row in rows]

    def lines(self, path: str, around_line: int, *, context: int = 200) -> FileWindow:
        """The lines from `context` before to `context` after a 0-based line.

        Secrets are masked and lines cut at LINE_CUT characters. Raises SourceError when the file
        cannot be read.
        """
        first, last = max(0, around_line - context), around_line + context + 1
        return window(Path(path), first, last)


def record_state(
    path: Path, byte_start: int, byte_end: int, sha256: str, *, searched: int | None = None
) -> SourceState:
    """Compare a record's bytes with the file as it is now.

    With `searched`, a file of more bytes in which they are no longer at their place is UNKNOWN.
    """
    size = byte_end - byte_start
    try:
        if searched is not None and is_compressed(path):
            return SourceState.UNKNOWN  # unpacking each file of a list would take too long
        with open_unpacked(path) as file:
            if size == 0 and sha256:  # a row of a database or of an archive
                return SourceState.UNKNOWN
            file.seek(byte_start)
            if _digest(file.read(size)) == sha256:
                return SourceState.SAME
            if searched is not None and path.stat().st_size > searched:
                return SourceState.UNKNOWN
            file.seek(0)
            return _find(file.read(SEARCHED), size, sha256)
    except FileNotFoundError:
        return SourceState.GONE
    except OSError:
        return SourceState.UNKNOWN


def _find(data: bytes, size: int, sha256: str) -> SourceState:
    """MOVED when the record's bytes begin at another line of the file."""
    start = 0
    while 0 <= start <= len(data) - size:
        # A record ends where a line ends, so most starts are ruled out without hashing.
        end = start + size
        ends_line = data[end - 1 : end] == b"\n" or data[end : end + 1] in (b"", b"\n", b"\r")
        if ends_line and _digest(data[start:end]) == sha256:
            return SourceState.MOVED
        start = data.find(b"\n", start) + 1 or -1
    return SourceState.CHANGED


def _digest(data: bytes) -> str:
    import hashlib  # late: most calls compare no file

    return hashlib.sha256(data).hexdigest()


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
    """The rows of a database or an archive; those that cannot be shown are empty."""
    from reviewer.sources.rows import shown_rows  # late, as above

    rows = shown_rows(path, first, last)
    end = max(rows, default=first - 1) + 1
    texts = [rows.get(number, "").encode() for number in range(first, end)]
    return FileWindow(str(path), first, _decoded(texts), end if end < last else None)


def _window(path: Path, first: int, last: int) -> FileWindow:
    number, partial, lines = 0, bytearray(), list[bytes]()
    with open_unpacked(path) as file:
        while block := file.read(BLOCK):
            ends = block.count(b"\n")
            if number + ends < first:
                number += ends
                continue
            for piece in block.split(b"\n"):
                partial += piece[: max(0, BYTES_SHOWN - len(partial))]
                if ends == 0:
                    break  # the last piece goes on in the next block
                ends -= 1
                if number >= first:
                    lines.append(bytes(partial))
                partial.clear()
                number += 1
                if number >= last:
                    return FileWindow(str(path), first, _decoded(lines), None)
    if partial and number >= first:
        lines.append(bytes(partial))
    return FileWindow(str(path), first, _decoded(lines), number + bool(partial))


def _decoded(lines: list[bytes]) -> tuple[str, ...]:
    """The lines as text, their secrets masked; what reads on behind the cut may be part of one."""
    longer = LINE_CUT + READ_ON
    texts = (line.decode("utf-8", "replace").rstrip("\r")[:longer] for line in lines)
    masked = mask("\n".join(texts)).text  # lines stay lines
    return tuple(line[:LINE_CUT] for line in masked.split("\n")) if lines else ()
