"""Other programs' databases, opened without ever writing to them or next to them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from reviewer.errors import OtherKindError, SourceError
from reviewer.files import open_file, unreadable

Connection = sqlite3.Connection
MAGIC = b"SQLite format 3\0"
LONGEST_VALUE = 64_000_000
"""Maximum bytes of a value; a longer one is skipped."""
LARGEST_COPY = 8_000_000_000
"""Maximum size of a database in use to copy before reading."""
ATTEMPTS = 3
SPARE_BYTES = 1_000_000
"""Maximum bytes of a value beyond twice the size of its database."""
_BESIDE = ("-wal", "-journal")


def is_database(head: bytes) -> bool:
    return head.startswith(MAGIC)


def tables(path: Path) -> frozenset[str]:
    """The names of a database's tables, without views and virtual tables.

    Raises SourceError if it cannot be read.
    """
    with opened(path) as database:
        return table_names(database)


def table_names(database: sqlite3.Connection) -> frozenset[str]:
    rows = database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    return frozenset(name for (name,) in rows if isinstance(name, str))


def columns(database: sqlite3.Connection, table: str) -> frozenset[str]:
    return frozenset(row[1] for row in database.execute(f'PRAGMA table_xinfo("{table}")'))


def column(known: frozenset[str], *names: str, default: str = "NULL") -> str:
    """The first of these columns that the table has (schemas vary by version); else `default`."""
    return next((f'"{name}"' for name in names if name in known), default)


def capped(expression: str) -> str:
    """SQL for a value that becomes NULL if too long to read."""
    return f"CASE WHEN length({expression}) <= {LONGEST_VALUE} THEN {expression} END"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection to a database.

    A database not in use is opened in place, in a mode in which SQLite creates neither locks nor
    files. One whose newest rows are in a separate file is copied with it, and the copy is read.
    Raises SourceError if it cannot be read, and OtherKindError if it has no tables.
    """
    try:
        before = _stamp(path)
        with ExitStack() as stack:
            place, mode = path, "mode=ro&immutable=1"
            if _beside(path):
                place, mode = stack.enter_context(_copy(path)), "mode=rw"
            database = stack.enter_context(_connected(place, mode))
            size = sum(size for size, _ in before)
            # No stored value is longer, only a computed one; UTF-16 may grow by half.
            most = min(2 * size + SPARE_BYTES, 2**31 - 1)
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, most)
            if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise OtherKindError(
                    f"{path} is not text that reviewer reads: it is a database without tables."
                )
            database.execute("PRAGMA query_only = ON")
            yield database
    except sqlite3.DatabaseError as problem:
        why = f"the database is damaged ({problem})."
        if _is_changed(path, before):
            why = "it changed while being read. Try again."
        raise SourceError(f"{path} cannot be read: {why}") from None
    except OSError as problem:
        raise unreadable(path, problem) from None


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    uri = path.absolute().as_uri() + f"?{mode}"
    with closing(sqlite3.connect(uri, uri=True, timeout=1)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        database.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield database


def _beside(path: Path) -> list[Path]:
    """The files next to a database that contain part of it."""
    named = [path.with_name(path.name + ending) for ending in _BESIDE]
    return [each for each in named if each.is_file() and each.stat().st_size]


def _is_changed(path: Path, before: list[tuple[int, int]]) -> bool:
    try:
        return _stamp(path) != before
    except OSError:
        return True


def _stamp(path: Path) -> list[tuple[int, int]]:
    found = [os.stat(each) for each in (path, *_beside(path))]
    return [(status.st_size, status.st_mtime_ns) for status in found]


@contextmanager
def _copy(path: Path) -> Iterator[Path]:
    """A private, consistent copy of a database and the files next to it."""
    if sum(part.stat().st_size for part in (path, *_beside(path))) > LARGEST_COPY:
        raise SourceError(
            f"{path} is in use and too large to copy: close the program that uses it and try again."
        )
    with tempfile.TemporaryDirectory(prefix="reviewer-") as folder:
        for _ in range(ATTEMPTS):
            before = _stamp(path)
            for part in (path, *_beside(path)):
                with open_file(part) as source, Path(folder, part.name).open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            if _stamp(path) == before:
                yield Path(folder, path.name)
                return
        raise SourceError(f"{path} is constantly being written to: try again later.")
